import { randomBytes } from "node:crypto";
import { basename, resolve } from "node:path";
import type { Kernel, TaskId } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { type CommonValues, defineCommand, type OptionValues } from "../../cli-command.ts";
import type { CliContext } from "../../cli-context.ts";
import { EXIT } from "../../exit-code.ts";
import { findSession } from "../../find-session.ts";
import { getSessionScope } from "../../sessions/session-scope.ts";
import { launchSupervisor, type RunRequest, type SupervisorProcess } from "../../tasks/launch-supervisor.ts";
import { createNotifyChannels, type NotifyTargets } from "../../tasks/notify-channels.ts";
import { openTasks } from "../../tasks/open-tasks.ts";
import { parseDuration, parseSize } from "../../tasks/units.ts";
import { followTask, watchForeground } from "../../tasks/watch-foreground.ts";
import { choosePaint } from "../../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../../terminal/escape.ts";
import { printTo } from "../../terminal/printer.ts";
import { UsageError } from "../../usage-error.ts";

const RUN_OPTIONS = {
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
function buildRunRequest(
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
      ...dropUndefined({ notify }),
    },
    options: {
      id: options.id ?? createTaskId(command),
      mode: options.background || queue !== undefined ? "background" : "foreground",
      ...dropUndefined({ queue, person, title, session }),
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
  const notify = dropUndefined({ command, webhook });
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

/** Runs a program as a task. */
export const runTaskCommand = defineCommand({
  name: "task run",
  summary: "run a program as a task: its output is logged, and its processes end with it",
  usage: ["task run [options] -- <program> [arguments]"],
  about: `A separate supervisor process runs the program, independent of this terminal. A foreground task prints its output here; Ctrl-C, or closing this terminal, kills it and all processes that it started. To free this terminal, run "longhaul task detach" in another one. The exit code is that of the program; otherwise 124 for a missed deadline, 125 for another failure, 126 if the program cannot be run, 127 if it is not found, and 137 if the task was killed. In the foreground, the program reads the pipe or file given to this command; it reads nothing from a terminal. With --queue a worker runs the program ("longhaul worker"); Ctrl-C then only stops following, and the program reads nothing.`,
  options: RUN_OPTIONS,
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul task run -- npm test",
    "longhaul task run --background --deadline 2h --title nightly -- ./bench.sh --full",
    "longhaul task run --isolation worktree -- my-agent 'fix the login test'",
    "longhaul task run --queue builds -- make -j8",
    "longhaul task run -b --notify-command 'notify-send done' -- make -j8",
  ],
  async run(context, { operands, options }) {
    const { options: asked, ...request } = buildRunRequest(context, operands, options);
    await using kernel = await openTasks(context, options);
    const parent =
      options.parent === undefined
        ? undefined
        : await findSession(kernel, options.parent, getSessionScope(context, options));
    const whole = {
      ...request,
      options: { ...asked, ...dropUndefined({ parentSession: parent }) },
    };
    if (options.queue !== undefined) return await runQueued(kernel, context, options, whole);
    const warn = (text: string) => void context.stderr.write(`longhaul: ${escapeLine(text)}\n`);
    const supervising = await launchSupervisor(context, options, whole, warn);
    const { id: task } = asked;
    if (options.background) {
      await printStarted(context, options, task, supervising);
      supervising.disconnect();
      return EXIT.fine;
    }
    if (context.isTerminal.stderr && !options.quiet) {
      const paint = choosePaint(context, options, "stderr");
      const name = escapeLine(task);
      context.stderr.write(
        `${paint("dim", `task ${name} (to detach, run in another terminal: longhaul task detach ${name})`)}\n`,
      );
    }
    return await watchForeground({ kernel, context, options, task }, supervising);
  },
});

/** Lets a task wait for a worker, and follows it unless it is to run in the background. */
async function runQueued(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues & { readonly background?: boolean; readonly raw?: boolean },
  { input, options: asked }: RunRequest,
): Promise<number> {
  const { id: task, session } = await kernel.tasks.start("command", input, asked);
  if (options.background) {
    await printTo(context.stdout, `${options.json ? toSafeJson({ task, session }) : escapeLine(task)}\n`);
    return EXIT.fine;
  }
  return await followTask({ kernel, context, options, task, since: 0 });
}

async function printStarted(
  context: CliContext,
  options: CommonValues,
  task: TaskId,
  { pid, session }: SupervisorProcess,
): Promise<void> {
  const text = options.json ? toSafeJson({ task, session, supervisor: pid }) : escapeLine(task);
  await printTo(context.stdout, `${text}\n`);
}
