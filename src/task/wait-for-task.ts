import { LonghaulError } from "../model/errors.ts";
import type { TaskId } from "../model/task.ts";
import type { Store } from "../store/store.ts";
import type { TaskRecord } from "../store/task-store.ts";
import type { WaitOptions } from "./start-options.ts";
import type { RunEvent, TaskRun } from "./task-run.ts";
import type { Timer } from "./timer.ts";

/** Longer than any process lives. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** Dependencies of waiting for a task. */
export interface WaitDeps {
  readonly store: Store;
  readonly timer: Timer;
  /** Fires when the supervisor closes, which ends every wait. */
  readonly closing: AbortSignal;
}

/** Waits for an event of a task that this process runs; "late" after the timeout. */
export function waitForRun(
  { timer, closing }: WaitDeps,
  run: TaskRun<never>,
  options: WaitOptions,
): Promise<RunEvent | "late"> {
  return waitBounded<RunEvent | "late">(timer, closing, options, "late", (resolve) => run.listen(resolve));
}

/**
 * Waits until a task of any process satisfies `isEnough`, or the timeout passes. Undefined if there is no such task.
 */
export function waitForTask(
  { store, timer, closing }: WaitDeps,
  id: TaskId,
  isEnough: (task: TaskRecord) => boolean,
  options: WaitOptions,
): Promise<TaskRecord | undefined> {
  return waitBounded<TaskRecord | undefined>(timer, closing, options, undefined, (resolve, reject) => {
    let isLooking = false;
    let isRung = false;
    const look = async () => {
      isRung = true;
      if (isLooking) return;
      isLooking = true;
      try {
        while (isRung) {
          isRung = false;
          const task = await store.tasks.get(id);
          if (!task || isEnough(task)) return resolve(task);
        }
      } catch (error) {
        reject(error);
      } finally {
        isLooking = false;
      }
    };
    const end = store.onCommit(look);
    void look();
    return end;
  });
}

/** A promise that removes its timer and listeners however it settles. */
function waitBounded<T>(
  timer: Timer,
  closing: AbortSignal,
  { timeoutMs, signal }: WaitOptions,
  late: T,
  begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const undo: (() => void)[] = [];
    const end = (settle: () => void) => {
      for (const step of undo.splice(0)) step();
      settle();
    };
    const on = (from: AbortSignal | undefined, error: () => LonghaulError) => {
      if (!from) return;
      const abort = () => end(() => reject(error()));
      from.addEventListener("abort", abort);
      undo.push(() => from.removeEventListener("abort", abort));
      if (from.aborted) abort();
    };
    on(signal, () => new LonghaulError("ABORTED", "The wait was aborted by its signal; the task goes on."));
    on(
      closing,
      () => new LonghaulError("CLOSED", "The supervisor of tasks was closed while someone waited."),
    );
    if (signal?.aborted || closing.aborted) return;
    // Someone waits, so the process stays alive even if the task itself waits for nothing but its signal.
    const giveUp = () => timeoutMs !== undefined && end(() => resolve(late));
    undo.push(timer.after(timeoutMs ?? NEVER_MS, giveUp, { keepsAlive: true }));
    const stop = begin(
      (value) => end(() => resolve(value)),
      (error) => end(() => reject(error)),
    );
    undo.push(stop);
  });
}
