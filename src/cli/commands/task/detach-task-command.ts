import { isTerminal } from "../../../index.ts";
import { defineCommand } from "../../cli-command.ts";
import { escapeLine, toSafeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { printTo } from "../../printer.ts";
import { findTask } from "../../tasks/find-task.ts";
import { formatTaskState } from "../../tasks/format-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";

/** Moves a task to the background. */
export const detachTaskCommand = defineCommand({
  name: "task detach",
  summary: "move a task to the background and free its terminal",
  usage: ["task detach <task>"],
  about:
    "The task is not interrupted. From then on, pressing Ctrl-C in that terminal or closing it does not affect the task.",
  options: {},
  maxOperands: 1,
  examples: ["longhaul task detach npm-3f9a12cd"],
  async run(context, { operands: [wanted], options }) {
    await using kernel = await openExistingTasks(context, options);
    const id = await findTask(kernel, wanted);
    const before = await kernel.tasks.status(id);
    const after = await kernel.tasks.detach(id);
    const isEnded = isTerminal(after.state);
    const isThere = isEnded || after.mode === "background";
    const isChanged = before.mode !== after.mode;
    const words = isEnded
      ? `has already ended: ${formatTaskState(after)}`
      : isChanged
        ? "continues in the background"
        : isThere
          ? "is already in the background"
          : 'is still in the foreground: its process does not respond; "longhaul task list" shows whether it is alive';
    if (options.json)
      await printTo(
        context.stdout,
        `${toSafeJson({ task: id, state: after.state, mode: after.mode, isChanged })}\n`,
      );
    else if (!options.quiet || !isThere) await printTo(context.stdout, `${escapeLine(`${id} ${words}`)}\n`);
    return isThere ? EXIT.fine : EXIT.failed;
  },
});
