import { processContext } from "./process-context.ts";
import { runProgram } from "./program.ts";

/** Runs the program in this process and leaves its exit code behind. */
export async function start(): Promise<void> {
  const { context, stop } = processContext();
  const exitCode = await runProgram(process.argv.slice(2), context);
  process.exitCode = stop.exitCode ?? exitCode;
}
