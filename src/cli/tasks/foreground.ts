import { isTerminal, type Kernel, type TaskId } from "../../index.ts";
import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { escapeLine, safeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { printTo } from "../printer.ts";
import { exitCodeOf } from "./exit-code-of.ts";
import { type FollowEnd, followTask } from "./follow.ts";
import { endJson, lastWords } from "./last-words.ts";
import type { Supervising } from "./launch.ts";
import { waitUntilSent, waitUntilTold } from "./told.ts";

/** Maximum wait for the clean-up after a task; it continues in the background. */
const TOLD_MS = 15_000;
/** Maximum further wait for the delivery of the notice. */
const SENT_MS = 5_000;

/** A task whose output is printed here. */
export interface Watched {
  readonly kernel: Kernel;
  readonly context: Context;
  readonly options: CommonValues & { readonly raw?: boolean };
  readonly task: TaskId;
}

/**
 * Follows a task that a supervisor process runs for this terminal. A signal or a closed output kills the task; a task
 * that moves to the background frees the terminal. Returns the exit code.
 */
export async function watchForeground(watched: Watched, supervising: Supervising): Promise<number> {
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
  void supervising.gone.then(() => (end ? undefined : kernel.tasks.recover())).catch(() => undefined);
  try {
    end = await followTask({
      kernel,
      context,
      task,
      isJson: options.json === true,
      isRaw: options.raw === true,
      reading: { block: true, signal: giveUp.signal },
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
    const exitCode = await sayEnd(watched);
    const isTold = (await kernel.tasks.status(task)).noticeSeq > 0;
    if (isTold && !(await waitUntilSent(kernel, task, SENT_MS, context.signal)) && !options.quiet)
      context.stderr.write(
        `longhaul: the notice of ${escapeLine(task)} is still being sent in the background\n`,
      );
    supervising.leave();
    return exitCode;
  }
  supervising.leave();
  if (end === "detached") return sayDetached(watched);
  const remedy = `its process does not respond; inspect it with "longhaul task show ${task}"`;
  context.stderr.write(`longhaul: task ${escapeLine(task)} was asked to end but has not yet: ${remedy}\n`);
  return EXIT.failed;
}

/** Waits for the clean-up, prints how the task ended and returns its exit code. */
export async function sayEnd({ kernel, context, options, task }: Watched): Promise<number> {
  const details = await waitUntilTold(kernel, task, TOLD_MS);
  const exitCode = exitCodeOf(details.status);
  if (options.json) await printTo(context.stdout, `${safeJson(endJson(details, exitCode))}\n`);
  else if (!options.quiet)
    for (const line of lastWords(details)) context.stderr.write(`longhaul: ${escapeLine(line)}\n`);
  return exitCode;
}

async function sayDetached({ context, options, task }: Watched): Promise<number> {
  const name = escapeLine(task);
  if (options.json) await printTo(context.stdout, `${safeJson({ type: "detached", task })}\n`);
  else if (!options.quiet)
    context.stderr.write(
      `longhaul: task ${name} continues in the background: longhaul task attach ${name}, longhaul task kill ${name}\n`,
    );
  return EXIT.fine;
}
