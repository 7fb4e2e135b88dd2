import { checkFields } from "../../model/arguments.ts";
import { type Clock, systemClock } from "../../model/clock.ts";
import type { Closable } from "../../model/scope.ts";
import { askGit, type GitOptions } from "./git.ts";
import { lockReason, readMark, thisHolder, writeMark } from "./mark.ts";
import { withWorktreeLock } from "./remove.ts";
import { checkWorktree, type Worktree, worktreeRefused } from "./worktree.ts";

/** How a worktree is held. */
export interface HoldOptions extends GitOptions {
  readonly clock?: Clock;
  /** How often the heartbeat is renewed (20 s). */
  readonly everyMs?: number;
}

/**
 * Takes a worktree into use, as a task that is resumed does first of all: from now on it is not stale, whatever its age.
 * WORKTREE_REFUSED (`gone`) if it was collected meanwhile. Closing stops the heartbeat; `removeIfUnchanged` gives it up.
 */
export async function holdWorktree(worktree: Worktree, options: HoldOptions = {}): Promise<Closable> {
  checkWorktree(worktree);
  checkFields("options", options, { signal: "signal?" });
  const clock = options.clock ?? systemClock;
  const beat = async () => {
    const mark = await readMark(worktree.admin);
    if (!mark || mark.isRemoving) return false;
    await writeMark(worktree.admin, { ...mark, heartbeatAt: clock.now(), heldBy: await thisHolder() });
    return true;
  };
  const taken = await withWorktreeLock(worktree, beat, options);
  if (!taken?.value)
    throw worktreeRefused(
      taken ? "gone" : "busy",
      `The worktree ${JSON.stringify(worktree.path)} ${taken ? "is gone" : "is gone or being removed"}; create a new one.`,
      worktree.path,
    );
  await lockAgain(worktree, options);
  let beating: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    // A disk that is full for a while must not end the hold.
    beating = beat().catch(() => undefined);
  }, options.everyMs ?? 20_000);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      // A heartbeat under way would write over what comes next.
      await beating;
    },
  };
}

/** Git's own lock keeps other programs from pruning it; it may stand already. */
async function lockAgain(worktree: Worktree, options: GitOptions): Promise<void> {
  const mark = await readMark(worktree.admin);
  if (!mark) return;
  const args = ["--git-dir", worktree.repository, "worktree", "lock", "--reason", lockReason(mark)];
  await askGit(worktree.repository, [...args, "--", worktree.path], options).catch(() => {});
}
