import type { TaskEntry } from "../../../task-entry.ts";
import { defineCommand } from "../../cli-command.ts";
import { toSafeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { printTo } from "../../printer.ts";
import { findTask } from "../../tasks/find-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { printTaskOutput } from "../../tasks/print-task-output.ts";
import { parseDuration } from "../../tasks/units.ts";
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
      await printTo(context.stdout, `${toSafeJson({ task, state, next, entries })}\n`);
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
