import { setTimeout as sleep } from "node:timers/promises";
import type { TaskDetails } from "../../kernel/faces/task.ts";
import { isTerminal, type Kernel, type TaskId } from "../../kernel/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { escapeLine } from "../terminal/escape.ts";
import { printJson } from "../terminal/print-lines.ts";
import { describeTaskEnd, toTaskEndJson } from "./describe-task-end.ts";
import type { SupervisorProcess } from "./launch-supervisor.ts";
import { type FollowEnd, printTaskOutput } from "./print-task-output.ts";
import { getTaskExitCode } from "./task-exit-code.ts";

/** Maximum wait for the clean-up after a task; it continues in the background. */
const CLEAN_UP_TIMEOUT_MS = 15_000;
/** Maximum further wait for the delivery of the notice. */
const DELIVERY_TIMEOUT_MS = 5_000;

/** A task whose output is printed here. */
interface ForegroundTask {
  readonly kernel: Kernel;
  readonly context: CliContext;
  readonly options: CommonValues & { readonly raw?: boolean };
  readonly task: TaskId;
}

/**
 * Follows a task that a supervisor process runs for this terminal. A signal or a closed output kills the task; a task
 * that moves to the background frees the terminal. Returns the exit code.
 */
export async function watchForeground(
  watched: ForegroundTask,
  supervising: SupervisorProcess,
): Promise<number> {
  const { kernel, context, options, task } = watched;
  const giveUp = new AbortController();
  const kill = async () => {
    const { state } = await kernel.tasks.kill(task, "interrupted");
    if (!isTerminal(state)) giveUp.abort();
  };
  let killing: Promise<void> | undefined;
  const stop = () => {
    killing ??= kill().catch(() => giveUp.abort());
  };
  context.signal.addEventListener("abort", stop);
  if (context.signal.aborted) stop();
  let end: FollowEnd | undefined;
  // A killed supervisor cannot record the end of its task; recovery does it.
  void supervising.exited.then(() => (end ? undefined : kernel.tasks.recover())).catch(() => undefined);
  try {
    end = await printTaskOutput({
      kernel,
      context,
      task,
      isJson: options.json === true,
      isRaw: options.raw === true,
      outputOptions: { block: true, signal: giveUp.signal },
      endsWithForeground: true,
    });
  } catch (error) {
    stop();
    await killing;
    throw error;
  } finally {
    context.signal.removeEventListener("abort", stop);
  }
  if (end === "ended") {
    const exitCode = await printTaskEnd(watched);
    const isTold = (await kernel.tasks.status(task)).noticeSeq > 0;
    if (
      isTold &&
      !(await waitForDelivery(kernel, task, DELIVERY_TIMEOUT_MS, context.signal)) &&
      !options.quiet
    )
      context.stderr.write(
        `longhaul: the notice of ${escapeLine(task)} is still being sent in the background\n`,
      );
    supervising.disconnect();
    return exitCode;
  }
  supervising.disconnect();
  if (end === "detached") return printDetached(watched);
  const remedy = `its process does not respond; inspect it with "longhaul task show ${task}"`;
  context.stderr.write(`longhaul: task ${escapeLine(task)} was asked to end but has not yet: ${remedy}\n`);
  return EXIT.failed;
}

/** Waits for the clean-up, prints how the task ended and returns its exit code. */
async function printTaskEnd({ kernel, context, options, task }: ForegroundTask): Promise<number> {
  const details = await waitForNotice(kernel, task, CLEAN_UP_TIMEOUT_MS);
  const exitCode = getTaskExitCode(details.status);
  if (options.json) await printJson(context, toTaskEndJson(details, exitCode));
  else if (!options.quiet)
    for (const line of describeTaskEnd(details)) context.stderr.write(`longhaul: ${escapeLine(line)}\n`);
  return exitCode;
}

async function printDetached({ context, options, task }: ForegroundTask): Promise<number> {
  const name = escapeLine(task);
  if (options.json) await printJson(context, { type: "detached", task });
  else if (!options.quiet)
    context.stderr.write(
      `longhaul: task ${name} continues in the background: longhaul task attach ${name}, longhaul task kill ${name}\n`,
    );
  return EXIT.fine;
}

/** Prints the output of a task of any process until it ends; an interrupt only stops following. Returns the exit code. */
export async function followTask(followed: ForegroundTask & { readonly since: number }): Promise<number> {
  const { kernel, context, options, task, since } = followed;
  // Recovery here records the end of the task if the process that runs it dies.
  await kernel.tasks.recover();
  const end = await printTaskOutput({
    kernel,
    context,
    task,
    isJson: options.json === true,
    isRaw: options.raw === true,
    outputOptions: { block: true, since, signal: context.signal },
  });
  if (end === "ended") return printTaskEnd(followed);
  if (!options.quiet) {
    const name = escapeLine(task);
    context.stderr.write(
      `longhaul: stopped following; task ${name} continues: longhaul task attach ${name}, longhaul task kill ${name}\n`,
    );
  }
  return EXIT.fine;
}

const PAUSE_MS = 50;

/**
 * Waits until a task's notice is written, which means all its processes have ended; returns the details then or after
 * the timeout.
 */
export async function waitForNotice(kernel: Kernel, id: TaskId, timeoutMs: number): Promise<TaskDetails> {
  const until = Date.now() + timeoutMs;
  while (Date.now() < until && (await kernel.tasks.status(id)).noticeSeq === 0) await sleep(PAUSE_MS);
  return kernel.tasks.describe(id);
}

/**
 * Waits for the delivery of a task's notice. Returns true after the first attempt, even a failed one, which is reported
 * elsewhere; false after the timeout.
 */
async function waitForDelivery(
  kernel: Kernel,
  id: TaskId,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const { notice, attempts } = await kernel.tasks.status(id);
    if (notice === "done" || attempts > 0) return true;
    if (Date.now() >= until || signal.aborted) return false;
    await sleep(PAUSE_MS);
  }
}
