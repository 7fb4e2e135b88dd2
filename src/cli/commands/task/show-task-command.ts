import { choosePaint } from "../../choose-paint.ts";
import { defineCommand } from "../../cli-command.ts";
import { toSafeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { printLines } from "../../print-lines.ts";
import { printTo } from "../../printer.ts";
import { findTask } from "../../tasks/find-task.ts";
import { toTaskJson } from "../../tasks/format-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { renderTaskDetails } from "../../tasks/render-task-details.ts";

const MAX_CHILDREN = 1_000;

/** Shows all details of a task. */
export const showTaskCommand = defineCommand({
  name: "task show",
  summary: "show all details of a task",
  usage: ["task show <task>"],
  options: {},
  maxOperands: 1,
  examples: ["longhaul task show npm-3f9a12cd", "longhaul task show npm --json | jq .task.notice.facts"],
  async run(context, { operands: [wanted], options }) {
    await using kernel = await openExistingTasks(context, options);
    const id = await findTask(kernel, wanted);
    const details = await kernel.tasks.describe(id);
    const children = await kernel.tasks.list({ parent: id, limit: MAX_CHILDREN });
    if (options.json) {
      const { plan, place, spent, notice } = details;
      const task = { ...toTaskJson(details), plan, place, spent, notice };
      const below = children.map(({ id: child, state }) => ({ id: child, state }));
      await printTo(context.stdout, `${toSafeJson({ task, children: below })}\n`);
    } else await printLines(context, renderTaskDetails(details, children, choosePaint(context, options)));
    return EXIT.fine;
  },
});
