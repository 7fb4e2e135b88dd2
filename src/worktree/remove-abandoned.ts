import { systemClock } from "../model/clock.ts";
import type { TaskId } from "../model/task.ts";
import { collectIntents } from "./branch-intent.ts";
import type { GitOptions } from "./git.ts";
import { type Removal, removeLeftover, withWorktreeLock } from "./remove-worktree.ts";
import { listAdminFolders, readWorktree, readWorktreePath } from "./worktree.ts";
import { isHeld, readMark, type WorktreeMark } from "./worktree-mark.ts";

/** How long a heartbeat of another machine counts as alive. */
const REMOTE_HEARTBEAT_MS = 60 * 60 * 1_000;

/** Whether a worktree was created for a task; the tag tells equal ids of different stores apart. */
export function isCreatedFor(
  mark: WorktreeMark | undefined,
  task: TaskId,
  tag: string | undefined,
): mark is WorktreeMark {
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
  for (const admin of await listAdminFolders(repository)) {
    const mark = await readMark(admin);
    if (!isCreatedFor(mark, task, options.tag) || (await isHeld(mark, now, REMOTE_HEARTBEAT_MS))) continue;
    const worktree = await readWorktree(admin, (await readWorktreePath(admin)) ?? "");
    if (!worktree) continue;
    const removed = await withWorktreeLock(worktree, () => removeLeftover(worktree, mark, options), options);
    last = removed?.value ?? last;
  }
  await collectIntents(repository, { ...options, now, olderThanMs: REMOTE_HEARTBEAT_MS });
  return last;
}
