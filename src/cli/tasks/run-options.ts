import { randomBytes } from "node:crypto";
import { basename, resolve } from "node:path";
import type { OptionValues } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../usage-error.ts";
import { channelsOf, type Notify } from "./notify.ts";
import type { RunRequest } from "./supervisor-messages.ts";
import { readDuration, readSize } from "./units.ts";

export const RUN_OPTIONS = {
  background: { type: "boolean", short: "b", help: "print the task's id at once and let it run" },
  title: { type: "string", value: "TEXT", help: "what lists call it; the command line otherwise" },
  id: { type: "string", value: "ID", help: "its id; made of the program's name otherwise" },
  session: {
    type: "string",
    value: "SESSION",
    help: "the session whose log gets its output; a new one otherwise",
  },
  parent: { type: "string", value: "SESSION", help: "the session that gets the notice of its end" },
  deadline: { type: "string", value: "TIME", help: "end it after 90s, 10m, 2h, …" },
  isolation: { type: "string", value: "KIND", help: "worktree: run it in a git worktree of its own" },
  repository: {
    type: "string",
    value: "PATH",
    help: "the repository of the worktree; that of this folder otherwise",
  },
  "max-output": { type: "string", value: "BYTES", help: "end it when it has written more, as in 10m" },
  "notify-command": {
    type: "string",
    value: "COMMAND",
    help: "run this when it has ended; the notice is its input",
  },
  "notify-webhook": { type: "string", value: "URL", help: "post the notice there when it has ended" },
  raw: { type: "boolean", help: "control characters as they are, also on a terminal" },
} as const;

const ISOLATIONS = ["none", "worktree"];

/**
 * Builds the request to the supervisor, except for the parent session, which must be looked up in the store. Throws
 * UsageError.
 */
export function runRequest(
  context: Context,
  operands: readonly string[],
  options: OptionValues<typeof RUN_OPTIONS>,
): RunRequest {
  const [command, ...args] = operands;
  if (!command) throw new UsageError("name a program behind --, as in longhaul task run -- npm test");
  const { title, session, isolation = "none", repository } = options;
  if (!ISOLATIONS.includes(isolation))
    throw new UsageError(`--isolation is ${JSON.stringify(isolation)}; expected ${ISOLATIONS.join(" or ")}`);
  const isIsolated = isolation !== "none";
  if (repository !== undefined && !isIsolated)
    throw new UsageError("--repository belongs to --isolation worktree");
  const notify = notifyOption(options);
  return {
    input: {
      command,
      args,
      ...(!isIsolated && { cwd: context.cwd }),
      ...(notify && { notify }),
    },
    options: {
      id: options.id ?? newId(command),
      mode: options.background ? "background" : "foreground",
      ...(title !== undefined && { title }),
      ...(session !== undefined && { session }),
      ...(options.deadline !== undefined && { deadlineMs: readDuration("deadline", options.deadline) }),
      ...(isIsolated && { isolation, repository: resolve(context.cwd, repository ?? ".") }),
    },
    ...(options["max-output"] !== undefined && {
      maxOutputBytes: readSize("max-output", options["max-output"]),
    }),
    // The supervisor's session has no terminal to read from, and a background task must not consume its caller's input.
    ...(!options.background && !context.isTerminal.stdin && { inheritsInput: true }),
  };
}

function notifyOption(options: OptionValues<typeof RUN_OPTIONS>): Notify | undefined {
  const { "notify-command": command, "notify-webhook": webhook } = options;
  if (command === undefined && webhook === undefined) return undefined;
  const notify = { ...(command !== undefined && { command }), ...(webhook !== undefined && { webhook }) };
  channelsOf(notify);
  return notify;
}

/** Builds an id that is easy to read and type: the program's name and eight random hex digits. */
function newId(command: string): string {
  const name = basename(command)
    .replace(/\.\w+$/, "")
    .replace(/[^\w-]+/g, "-")
    .slice(0, 24);
  return `${name || "task"}-${randomBytes(4).toString("hex")}`;
}
