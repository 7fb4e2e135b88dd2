import { startProgram } from "../cli/support/program.ts";
import { testFolder } from "./folder.ts";

/** A gateway in its own process. */
export interface ServedGateway {
  readonly url: string;
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
    async kill() {
      running.process.kill("SIGKILL");
      await running.ended;
    },
  };
}
