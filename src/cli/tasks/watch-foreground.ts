import { isTerminal, type Kernel, type TaskId } from "../../index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { printTo } from "../printer.ts";
import { describeTaskEnd, toTaskEndJson } from "./describe-task-end.ts";
import type { SupervisorProcess } from "./launch-supervisor.ts";
import { type FollowEnd, printTaskOutput } from "./print-task-output.ts";
import { getTaskExitCode } from "./task-exit-code.ts";
import { waitForDelivery, waitForNotice } from "./wait-for-notice.ts";

/** Maximum wait for the clean-up after a task; it continues in the background. */
const CLEAN_UP_TIMEOUT_MS = 15_000;
/** Maximum further wait for the delivery of the notice. */
const DELIVERY_TIMEOUT_MS = 5_000;

/** A task whose output is printed here. */
export interface ForegroundTask {
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
export async function printTaskEnd({ kernel, context, options, task }: ForegroundTask): Promise<number> {
  const details = await waitForNotice(kernel, task, CLEAN_UP_TIMEOUT_MS);
  const exitCode = getTaskExitCode(details.status);
  if (options.json) await printTo(context.stdout, `${toSafeJson(toTaskEndJson(details, exitCode))}\n`);
  else if (!options.quiet)
    for (const line of describeTaskEnd(details)) context.stderr.write(`longhaul: ${escapeLine(line)}\n`);
  return exitCode;
}

async function printDetached({ context, options, task }: ForegroundTask): Promise<number> {
  const name = escapeLine(task);
  if (options.json) await printTo(context.stdout, `${toSafeJson({ type: "detached", task })}\n`);
  else if (!options.quiet)
    context.stderr.write(
      `longhaul: task ${name} continues in the background: longhaul task attach ${name}, longhaul task kill ${name}\n`,
    );
  return EXIT.fine;
}
