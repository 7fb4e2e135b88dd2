import { defineCommand } from "../../cli-command.ts";
import { findTask } from "../../tasks/find-task.ts";
import { followTask } from "../../tasks/follow-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";

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
    return await followTask({ kernel, context, options, task, since });

    async function lastSeqOf(id: string): Promise<number> {
      let last = 0;
      for await (const { seq } of kernel.tasks.output(id)) last = seq;
      return last;
    }
  },
});
