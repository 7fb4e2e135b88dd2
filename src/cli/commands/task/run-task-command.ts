import type { Kernel, TaskId } from "../../../index.ts";
import { choosePaint } from "../../choose-paint.ts";
import { type CommonValues, defineCommand } from "../../cli-command.ts";
import type { CliContext } from "../../cli-context.ts";
import { escapeLine, toSafeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { findSession } from "../../find-session.ts";
import { printTo } from "../../printer.ts";
import { getSessionScope } from "../../sessions/session-scope.ts";
import { followTask } from "../../tasks/follow-task.ts";
import { launchSupervisor, type SupervisorProcess } from "../../tasks/launch-supervisor.ts";
import { openTasks } from "../../tasks/open-tasks.ts";
import { buildRunRequest, RUN_OPTIONS } from "../../tasks/run-options.ts";
import type { RunRequest } from "../../tasks/supervisor-messages.ts";
import { watchForeground } from "../../tasks/watch-foreground.ts";

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
      options: { ...asked, ...(parent !== undefined && { parentSession: parent }) },
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
