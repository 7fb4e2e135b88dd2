import { checkFields } from "../../model/argument-checks.ts";
import { type Clock, systemClock } from "../../model/clock.ts";
import type { Closable } from "../../model/lifetime.ts";
import { callGit, type GitOptions } from "./git.ts";
import { withWorktreeLock } from "./remove-worktree.ts";
import { checkWorktree, createWorktreeError, type Worktree } from "./worktree.ts";
import { buildLockReason, getCurrentHolder, readMark, writeMark } from "./worktree-mark.ts";

/** Options for holding a worktree. */
interface HoldWorktreeOptions extends GitOptions {
  readonly clock?: Clock;
  /** Interval of the heartbeat (20 s). */
  readonly everyMs?: number;
}

/**
 * Holds a worktree so that it does not count as stale; a resumed task calls this first. Throws
 * WORKTREE_REFUSED (`gone`) if the worktree was collected meanwhile. Closing stops the heartbeat;
 * `removeIfUnchanged` releases the worktree.
 */
export async function holdWorktree(worktree: Worktree, options: HoldWorktreeOptions = {}): Promise<Closable> {
  checkWorktree(worktree);
  checkFields("options", options, { signal: "signal?" });
  const clock = options.clock ?? systemClock;
  const beat = async () => {
    const mark = await readMark(worktree.admin);
    if (!mark || mark.isRemoving) return false;
    await writeMark(worktree.admin, { ...mark, heartbeatAt: clock.now(), heldBy: await getCurrentHolder() });
    return true;
  };
  const taken = await withWorktreeLock(worktree, beat, options);
  if (!taken?.value)
    throw createWorktreeError(
      taken ? "gone" : "busy",
      `The worktree ${JSON.stringify(worktree.path)} ${taken ? "is gone" : "is gone or being removed"}; create a new one.`,
      worktree.path,
    );
  await lockAgain(worktree, options);
  let beating: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    // A temporarily full disk must not end the hold.
    beating = beat().catch(() => undefined);
  }, options.everyMs ?? 20_000);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      // A heartbeat in progress would overwrite later writes.
      await beating;
    },
  };
}

/** Sets git's own lock, which keeps other programs from pruning the worktree; it may already be set. */
async function lockAgain(worktree: Worktree, options: GitOptions): Promise<void> {
  const mark = await readMark(worktree.admin);
  if (!mark) return;
  const args = ["--git-dir", worktree.repository, "worktree", "lock", "--reason", buildLockReason(mark)];
  await callGit(worktree.repository, [...args, "--", worktree.path], options).catch(() => {});
}
