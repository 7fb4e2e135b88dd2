import { readFileSync } from "node:fs";
import { startProgram } from "../cli/support/program.ts";
import { testFolder } from "./folder.ts";

/** A gateway in its own process. */
export interface ServedGateway {
  readonly url: string;
  /** Memory of the process in bytes, now or at its peak; Linux only. */
  memory(field: "VmRSS" | "VmHWM"): number;
  /** Ends the process without warning. */
  kill(): Promise<void>;
}

/** Starts `longhaul serve` with one upstream for one test. */
export async function serveGateway(
  upstream: string,
  args: readonly string[] = [],
  store = testFolder(),
): Promise<ServedGateway> {
  const options = ["--port", "0", "--store", store, "--log", "error", "--upstream", upstream];
  const running = startProgram(["serve", "--json", ...options, ...args], { cwd: testFolder() });
  let printed = "";
  running.process.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  await running.says('"type":"listening"');
  const { url } = JSON.parse(printed.split("\n")[0] as string) as { url: string };
  return {
    url,
    memory(field) {
      const status = readFileSync(`/proc/${running.process.pid}/status`, "utf8");
      return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1_024;
    },
    async kill() {
      running.process.kill("SIGKILL");
      await running.ended;
    },
  };
}
