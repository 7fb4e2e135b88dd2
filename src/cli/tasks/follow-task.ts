import { escapeLine } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { printTaskOutput } from "./print-task-output.ts";
import { type ForegroundTask, printTaskEnd } from "./watch-foreground.ts";

/** Prints the output of a task of any process until it ends; an interrupt only stops following. Returns the exit code. */
export async function followTask(followed: ForegroundTask & { readonly since: number }): Promise<number> {
  const { kernel, context, options, task, since } = followed;
  // Recovery here records the end of the task if the process that runs it dies.
  await kernel.tasks.recover();
  const end = await printTaskOutput({
    kernel,
    context,
    task,
    isJson: options.json === true,
    isRaw: options.raw === true,
    outputOptions: { block: true, since, signal: context.signal },
  });
  if (end === "ended") return printTaskEnd(followed);
  if (!options.quiet) {
    const name = escapeLine(task);
    context.stderr.write(
      `longhaul: stopped following; task ${name} continues: longhaul task attach ${name}, longhaul task kill ${name}\n`,
    );
  }
  return EXIT.fine;
}
