import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildTask } from "../../child-job.ts";

/** Figures of one run of a program. */
export interface ProgramFigures {
  readonly wallMs: number;
  /** CPU of all threads. */
  readonly cpuMs: number;
  readonly stdout: string;
}

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const CLI_FLAGS = ["--max-semi-space-size=8"];

/** Runs `longhaul` with these arguments, or an empty program without any, and measures it at its end. */
export const runProgram: ChildTask<readonly string[], ProgramFigures> = async function runProgram(
  args,
  { folder },
) {
  const file = join(folder, "cpu.json");
  const hook = `import{writeFileSync}from"node:fs";process.on("exit",()=>writeFileSync(${JSON.stringify(file)},JSON.stringify(process.cpuUsage())))`;
  const hooked = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`];
  const program = args.length > 0 ? [...CLI_FLAGS, MAIN, ...args] : ["-e", "0"];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...hooked, ...program], { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`longhaul ${args.join(" ")} ended with ${code}`);
  const { user, system } = JSON.parse(readFileSync(file, "utf8")) as NodeJS.CpuUsage;
  return { wallMs: performance.now() - startedMs, cpuMs: (user + system) / 1_000, stdout };
};
