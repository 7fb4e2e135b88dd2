import { defineCommand } from "../../cli-command.ts";
import { escapeLine } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { findTask } from "../../tasks/find-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { printTaskOutput } from "../../tasks/print-task-output.ts";
import { printTaskEnd } from "../../tasks/watch-foreground.ts";

/** Follows the output of a task in any process. */
export const attachTaskCommand = defineCommand({
  name: "task attach",
  summary: "follow a task of any process until it ends",
  usage: ["task attach <task> [options]"],
  about: `Prints the output of the task so far and continues until the task ends; the exit code is that of the task, as for "task run". Ctrl-C only stops following; the task continues.`,
  options: {
    new: { type: "boolean", help: "print only new output" },
    raw: { type: "boolean", help: "print control characters unescaped, even on a terminal" },
  },
  maxOperands: 1,
  examples: ["longhaul task attach npm-3f9a12cd", "longhaul task attach npm --new --json"],
  async run(context, { operands: [wanted], options }) {
    await using kernel = await openExistingTasks(context, options);
    const task = await findTask(kernel, wanted);
    const since = options.new ? await lastSeqOf(task) : 0;
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
    if (end === "ended") return await printTaskEnd({ kernel, context, options, task });
    if (!options.quiet) {
      const name = escapeLine(task);
      context.stderr.write(
        `longhaul: stopped following; task ${name} continues: longhaul task attach ${name}, longhaul task kill ${name}\n`,
      );
    }
    return EXIT.fine;

    async function lastSeqOf(id: string): Promise<number> {
      let last = 0;
      for await (const { seq } of kernel.tasks.output(id)) last = seq;
      return last;
    }
  },
});
