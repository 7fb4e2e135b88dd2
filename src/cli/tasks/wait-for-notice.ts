import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel, TaskId } from "../../index.ts";
import type { TaskDetails } from "../../task-entry.ts";

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
export async function waitForDelivery(
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
