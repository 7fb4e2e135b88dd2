import { reapTagged } from "../../../kernel/faces/task.ts";
import {
  isLonghaulError,
  isTerminal,
  type Kernel,
  type TaskId,
  type TaskStatus,
} from "../../../kernel/index.ts";
import { defineCommand } from "../../cli-command.ts";
import { EXIT } from "../../exit-code.ts";
import { listActiveTasks } from "../../tasks/collect-tasks.ts";
import { findTask } from "../../tasks/find-task.ts";
import { formatTaskState } from "../../tasks/format-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { waitForNotice } from "../../tasks/watch-foreground.ts";
import { escapeLine } from "../../terminal/escape.ts";
import { formatQuantity } from "../../terminal/format-count.ts";
import { printJson } from "../../terminal/print-lines.ts";
import { printTo } from "../../terminal/printer.ts";
import { UsageError } from "../../usage-error.ts";

const NOTICE_TIMEOUT_MS = 15_000;

/** Kills tasks. */
export const killTaskCommand = defineCommand({
  name: "task kill",
  summary: "end tasks and all processes that they started",
  usage: [
    "task kill <task>… [--reason TEXT]",
    "task kill --all [--parent TASK] [--queue NAME] [--session SESSION] [--reason TEXT]",
  ],
  about: `Works from any process and in any state, and keeps the output. Killing an ended task is not an error. The command returns when all processes are gone; it exits with code 1 if a task has not ended in time because its process does not respond.`,
  options: {
    all: { type: "boolean", help: "kill all tasks of the store that have not ended" },
    parent: { type: "string", value: "TASK", help: "with --all: only the children of this task" },
    queue: { type: "string", value: "NAME", help: "with --all: only the tasks of this queue" },
    session: { type: "string", value: "SESSION", help: "with --all: only the tasks of this session" },
    reason: {
      type: "string",
      value: "TEXT",
      help: "reason, for the log and the notice of the task (default: asked)",
    },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul task kill npm-3f9a12cd",
    "longhaul task kill --all --reason 'going home'",
    "longhaul task kill --all --queue builds",
  ],
  async run(context, { operands, options }) {
    if (options.all && operands.length > 0) throw new UsageError("name tasks or give --all, not both");
    if (!options.all && operands.length === 0)
      throw new UsageError('name a task, or give --all; "longhaul task list" lists them');
    const { parent, queue, session } = options;
    const given = Object.entries({ parent, queue, session }).filter(([, value]) => value !== undefined);
    if (!options.all && given.length > 0) throw new UsageError(`--${given[0]?.[0]} needs --all`);
    await using kernel = await openExistingTasks(context, options);
    const active = options.all ? await listActiveTasks(kernel, Object.fromEntries(given)) : [];
    const waiting = active.filter(({ state }) => state === "queued");
    const others = active.filter(({ state }) => state !== "queued").map(({ id }) => id);
    for (const wanted of operands) others.push(await findTask(kernel, wanted));
    const killed: Awaited<ReturnType<typeof killTask>>[] = [];
    // Waiting tasks first: they would begin in the places of the others.
    for (const ids of [waiting.map(({ id }) => id), others])
      killed.push(...(await Promise.all(ids.map((id) => killTask(kernel, id, options.reason)))));
    if (options.json) await printJson(context, { killed });
    else
      for (const { task, words, isEnded } of killed)
        if (!options.quiet || !isEnded) await printTo(context.stdout, `${escapeLine(`${task} ${words}`)}\n`);
    if (killed.length === 0 && !options.json && !options.quiet)
      await printTo(context.stdout, "No task is running.\n");
    return killed.every(({ isEnded }) => isEnded) ? EXIT.fine : EXIT.failed;
  },
});

async function killTask(kernel: Kernel, id: TaskId, reason: string | undefined) {
  const before = await kernel.tasks.status(id);
  const wasEnded = isTerminal(before.state);
  let after = before;
  try {
    if (!wasEnded) after = await kernel.tasks.kill(id, reason);
  } catch (error) {
    const words = await endPrograms(kernel, id, error);
    return { task: id, state: after.state, isEnded: false, isChanged: false, words };
  }
  const isEnded = isTerminal(after.state);
  if (isEnded) await waitForNotice(kernel, id, NOTICE_TIMEOUT_MS);
  return {
    task: id,
    state: after.state,
    isEnded,
    isChanged: isEnded && !wasEnded,
    words: formatOutcome(after, wasEnded),
  };
}

/** Ends the programs of a task that cannot be killed through the store, for example because it filled the disk. */
async function endPrograms(kernel: Kernel, id: TaskId, error: unknown): Promise<string> {
  if (!isLonghaulError(error, "DISK_FULL") && !isLonghaulError(error, "STORE_IO")) throw error;
  const { ended } = await reapTagged(await kernel.tasks.tag(id));
  if (ended === 0) throw error;
  const processes = `${formatQuantity(ended, "process", "processes")} of the task ${ended === 1 ? "was" : "were"} ended`;
  return `could not be killed through the store, but ${processes}. ${error.message}`;
}

function formatOutcome(status: TaskStatus, wasEnded: boolean): string {
  if (wasEnded) return `had already ended: ${formatTaskState(status)}`;
  if (isTerminal(status.state)) return formatTaskState(status);
  return "was asked to end but has not yet: its process does not respond";
}

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
    if (options.json) await printJson(context, { task: id, state: after.state, mode: after.mode, isChanged });
    else if (!options.quiet || !isThere) await printTo(context.stdout, `${escapeLine(`${id} ${words}`)}\n`);
    return isThere ? EXIT.fine : EXIT.failed;
  },
});
