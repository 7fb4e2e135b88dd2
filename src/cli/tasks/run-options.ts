import { randomBytes } from "node:crypto";
import { basename, resolve } from "node:path";
import type { OptionValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { UsageError } from "../usage-error.ts";
import { createNotifyChannels, type NotifyTargets } from "./notify-channels.ts";
import type { RunRequest } from "./supervisor-messages.ts";
import { parseDuration, parseSize } from "./units.ts";

export const RUN_OPTIONS = {
  background: { type: "boolean", short: "b", help: "print the task's id and return immediately" },
  title: { type: "string", value: "TEXT", help: "title of the task in lists (default: its command line)" },
  id: { type: "string", value: "ID", help: "id of the task (default: based on the program's name)" },
  session: {
    type: "string",
    value: "SESSION",
    help: "session that logs the output (default: a new one)",
  },
  parent: { type: "string", value: "SESSION", help: "session that receives the notice when the task ends" },
  deadline: { type: "string", value: "TIME", help: "end the task after this time: 90s, 10m, 2h, …" },
  isolation: { type: "string", value: "KIND", help: "worktree: run the program in its own git worktree" },
  repository: {
    type: "string",
    value: "PATH",
    help: "repository of the worktree (default: that of the current folder)",
  },
  "max-output": {
    type: "string",
    value: "BYTES",
    help: "end the task if its output exceeds this size, such as 10m",
  },
  "notify-command": {
    type: "string",
    value: "COMMAND",
    help: "run this command when the task ends, with the notice as its input",
  },
  "notify-webhook": { type: "string", value: "URL", help: "post the notice to this URL when the task ends" },
  queue: {
    type: "string",
    value: "NAME",
    help: 'let a "longhaul worker" of this queue run the program, here or on another machine',
  },
  person: {
    type: "string",
    value: "NAME",
    help: "person on whose behalf a task of a queue runs (default: local)",
  },
  raw: { type: "boolean", help: "print control characters unescaped, even on a terminal" },
} as const;

const ISOLATIONS = ["none", "worktree"];

/**
 * Builds the request to the supervisor, except for the parent session, which must be looked up in the store. Throws
 * UsageError.
 */
export function buildRunRequest(
  context: CliContext,
  operands: readonly string[],
  options: OptionValues<typeof RUN_OPTIONS>,
): RunRequest {
  const [command, ...args] = operands;
  if (!command) throw new UsageError("name a program after --, as in longhaul task run -- npm test");
  const { title, session, isolation = "none", repository } = options;
  if (!ISOLATIONS.includes(isolation))
    throw new UsageError(`--isolation is ${JSON.stringify(isolation)}; expected ${ISOLATIONS.join(" or ")}`);
  const isIsolated = isolation !== "none";
  if (repository !== undefined && !isIsolated)
    throw new UsageError("--repository needs --isolation worktree");
  const { queue, person } = options;
  if (queue === undefined && person !== undefined) throw new UsageError("--person needs --queue");
  if (queue !== undefined && options["max-output"] !== undefined)
    throw new UsageError("--max-output is not possible with --queue");
  const notify = parseNotifyTargets(options);
  return {
    input: {
      command,
      args,
      ...(!isIsolated && { cwd: context.cwd }),
      ...(notify && { notify }),
    },
    options: {
      id: options.id ?? createTaskId(command),
      mode: options.background || queue !== undefined ? "background" : "foreground",
      ...(queue !== undefined && { queue }),
      ...(person !== undefined && { person }),
      ...(title !== undefined && { title }),
      ...(session !== undefined && { session }),
      ...(options.deadline !== undefined && { deadlineMs: parseDuration("deadline", options.deadline) }),
      ...(isIsolated && { isolation, repository: resolve(context.cwd, repository ?? ".") }),
    },
    ...(options["max-output"] !== undefined && {
      maxOutputBytes: parseSize("max-output", options["max-output"]),
    }),
    // The supervisor's session has no terminal to read from, and a background task must not consume its caller's input.
    ...(!options.background && queue === undefined && !context.isTerminal.stdin && { inheritsInput: true }),
  };
}

function parseNotifyTargets(options: OptionValues<typeof RUN_OPTIONS>): NotifyTargets | undefined {
  const { "notify-command": command, "notify-webhook": webhook } = options;
  if (command === undefined && webhook === undefined) return undefined;
  const notify = { ...(command !== undefined && { command }), ...(webhook !== undefined && { webhook }) };
  createNotifyChannels(notify);
  return notify;
}

/** Builds an id that is easy to read and type: the program's name and eight random hex digits. */
function createTaskId(command: string): string {
  const name = basename(command)
    .replace(/\.\w+$/, "")
    .replace(/[^\w-]+/g, "-")
    .slice(0, 24);
  return `${name || "task"}-${randomBytes(4).toString("hex")}`;
}
