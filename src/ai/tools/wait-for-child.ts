import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel, Session, TaskNotice, TaskStatus } from "../../index.ts";

/** A child's status after a wait, with its notice if it has arrived. */
interface WaitedChild {
  readonly status: TaskStatus;
  readonly notice?: TaskNotice;
}

/** Poll interval: verdicts and checks come between a task's end and its notice. */
const POLL_MS = 50;

/** Waits until a child has ended and its notice is in the parent's session, or the timeout expires. */
export async function waitForChild(
  kernel: Kernel,
  session: Session,
  id: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<WaitedChild> {
  const until = performance.now() + timeoutMs;
  let status = await kernel.tasks.wait(id, { timeoutMs, ...(signal && { signal }) });
  for (; status.outcome && status.noticeSeq === 0 && performance.now() < until; ) {
    await sleep(POLL_MS, undefined, signal ? { signal } : {});
    status = await kernel.tasks.status(id);
  }
  const entry = status.noticeSeq > 0 ? await session.entry(status.noticeSeq) : undefined;
  const isIts = entry?.kind === "task" && entry.task === id && entry.note.type === "notice";
  return isIts && entry.note.type === "notice" ? { status, notice: entry.note.notice } : { status };
}
