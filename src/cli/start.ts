import { createProcessContext } from "./process-context.ts";
import { runProgram } from "./program.ts";

/** Runs the program in this process and sets its exit code. */
export async function start(): Promise<void> {
  const { context, stop } = createProcessContext();
  const exitCode = await runProgram(process.argv.slice(2), context);
  process.exitCode = stop.exitCode ?? exitCode;
}
