import { systemClock } from "../../model/clock.ts";
import type { TaskId } from "../../model/task.ts";
import type { GitOptions } from "./git.ts";
import { collectIntents } from "./intent.ts";
import { isHeld, type Mark, readMark } from "./mark.ts";
import { type Removal, removeLeft, withWorktreeLock } from "./remove.ts";
import { adminsOf, pathOf, worktreeOf } from "./worktree.ts";

/** How long a heartbeat of another machine counts as alive. */
const BELIEVED_MS = 60 * 60 * 1_000;

/** Whether a worktree was created for a task; the tag tells equal ids of different stores apart. */
export function isMadeFor(mark: Mark | undefined, task: TaskId, tag: string | undefined): mark is Mark {
  return mark?.task === task && (mark.tag === undefined || mark.tag === tag);
}

/**
 * Removes worktrees that dead processes created for a task without recording them, unless they contain work.
 * Undefined if there are none.
 */
export async function removeAbandoned(
  repository: string,
  task: TaskId,
  options: GitOptions,
): Promise<Removal | undefined> {
  let last: Removal | undefined;
  const now = systemClock.now();
  for (const admin of await adminsOf(repository)) {
    const mark = await readMark(admin);
    if (!isMadeFor(mark, task, options.tag) || (await isHeld(mark, now, BELIEVED_MS))) continue;
    const worktree = await worktreeOf(admin, (await pathOf(admin)) ?? "");
    if (!worktree) continue;
    const removed = await withWorktreeLock(worktree, () => removeLeft(worktree, mark, options), options);
    last = removed?.value ?? last;
  }
  await collectIntents(repository, { ...options, now, olderThanMs: BELIEVED_MS });
  return last;
}
