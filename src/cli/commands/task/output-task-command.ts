import type { TaskEntry } from "../../../kernel/faces/task.ts";
import { defineCommand } from "../../cli-command.ts";
import { EXIT } from "../../exit-code.ts";
import { findTask } from "../../tasks/find-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { printTaskOutput } from "../../tasks/print-task-output.ts";
import { parseDuration } from "../../tasks/units.ts";
import { followTask } from "../../tasks/watch-foreground.ts";
import { printJson } from "../../terminal/print-lines.ts";
import { UsageError } from "../../usage-error.ts";

/** Maximum entries in one JSON document; --since continues after them. */
const MAX_ENTRIES = 10_000;

/** Prints a task's output. */
export const outputTaskCommand = defineCommand({
  name: "task output",
  summary: "print the output of a task",
  usage: ["task output <task> [options]"],
  about: `Error output of the program goes to standard error. With --json, the output is a list of log entries; pass the field "next" to --since to continue.`,
  options: {
    follow: { type: "boolean", short: "f", help: "keep printing until the task ends or Ctrl-C" },
    since: { type: "string", value: "SEQ", help: "only entries after this number" },
    timeout: {
      type: "string",
      value: "TIME",
      help: "with --follow: stop after this time (10s, 5m, …); the task continues",
    },
    raw: { type: "boolean", help: "print control characters unescaped, even on a terminal" },
  },
  maxOperands: 1,
  examples: [
    "longhaul task output npm-3f9a12cd",
    "longhaul task output npm --follow --timeout 30s",
    "longhaul task output npm --json --since 40",
  ],
  async run(context, { operands: [wanted], options }) {
    const since = options.since === undefined ? 0 : parseSeqOption(options.since);
    const timeoutMs =
      options.timeout === undefined ? {} : { timeoutMs: parseDuration("timeout", options.timeout) };
    if (options.timeout !== undefined && !options.follow) throw new UsageError("--timeout needs --follow");
    await using kernel = await openExistingTasks(context, options);
    const task = await findTask(kernel, wanted);
    if (options.json && !options.follow) {
      const entries: TaskEntry[] = [];
      for await (const entry of kernel.tasks.output(task, { since })) {
        entries.push(entry);
        if (entries.length === MAX_ENTRIES) break;
      }
      const { state } = await kernel.tasks.status(task);
      const next = entries.at(-1)?.seq ?? since;
      await printJson(context, { task, state, next, entries });
      return EXIT.fine;
    }
    if (options.follow) await kernel.tasks.recover();
    await printTaskOutput({
      kernel,
      context,
      task,
      isJson: options.json === true,
      isRaw: options.raw === true,
      outputOptions: { block: options.follow === true, since, ...timeoutMs, signal: context.signal },
    });
    return EXIT.fine;
  },
});

function parseSeqOption(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError(`--since is ${JSON.stringify(text)}; expected the number of an entry, 0 for all`);
}

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
