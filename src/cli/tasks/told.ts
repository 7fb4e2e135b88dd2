import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel, TaskDetails, TaskId } from "../../index.ts";

const PAUSE_MS = 50;

/** The task once its notice is written, and so all of its processes are ended; or as it is when the time is over. */
export async function waitUntilTold(kernel: Kernel, id: TaskId, timeoutMs: number): Promise<TaskDetails> {
  const until = Date.now() + timeoutMs;
  while (Date.now() < until && (await kernel.tasks.status(id)).noticeSeq === 0) await sleep(PAUSE_MS);
  return kernel.tasks.describe(id);
}

/** True once the notice of a task is delivered, or was tried in vain, which is said elsewhere; false when the time is over. */
export async function waitUntilSent(
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
