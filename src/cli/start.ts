import type { CliContext } from "./cli-context.ts";
import { createProcessContext } from "./process-context.ts";
import { runProgram } from "./program.ts";

/** Runs the program in this process, perhaps behind other streams than its own, and sets its exit code. */
export async function start(streams?: Pick<CliContext, "stdin" | "stdout">): Promise<void> {
  const { context, stop } = createProcessContext();
  const { stdin, stdout } = streams ?? context;
  const exitCode = await runProgram(process.argv.slice(2), { ...context, stdin, stdout });
  process.exitCode = stop.exitCode ?? exitCode;
}
