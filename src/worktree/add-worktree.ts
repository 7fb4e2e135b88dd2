import { rmdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import {
  callGit,
  callGitOnce,
  createGitError,
  GIT_RETRY_MS,
  type GitOptions,
  type GitResult,
  isDisturbed,
  MAX_GIT_ROUNDS,
} from "./git.ts";
import { deleteBranch, discardWorktree } from "./remove-worktree.ts";
import { hasBranch } from "./repository.ts";
import { findAdminFolder, readAdminFolder, type Worktree } from "./worktree.ts";
import { buildLockReason, readMark, type WorktreeMark } from "./worktree-mark.ts";

/** A worktree that git has added, with non-fatal warnings. */
export interface AddedWorktree {
  readonly worktree: Worktree;
  readonly warnings: readonly string[];
}

/**
 * Adds a worktree at a path, with the branch of its mark. Returns undefined if the path or branch is taken; a failed
 * call undoes only its own changes.
 */
export async function addWorktree(
  common: string,
  path: string,
  mark: WorktreeMark,
  options: GitOptions,
): Promise<AddedWorktree | undefined> {
  // Create the branch first, with an atomic call: the winner may also undo it.
  const ref = `refs/heads/${mark.branch}`;
  const create = ["--git-dir", common, "update-ref", "-m", "branch: Created for a task", ref, mark.base, ""];
  // Ignore the signal: an aborted call would not tell whether it won.
  const { signal: _, ...rest } = options;
  const made = await callGit(common, create, rest);
  if (made.exitCode !== 0 && (await hasBranch(common, mark.branch, options))) return undefined;
  if (made.exitCode !== 0) throw createGitError(create, made, `failed with exit code ${made.exitCode}`);
  let added: AddedWorktree | undefined;
  try {
    added = await addFolder(common, path, mark, options);
  } finally {
    if (!added) await undoAdd(common, path, mark, options);
  }
  return added;
}

async function addFolder(
  common: string,
  path: string,
  mark: WorktreeMark,
  options: GitOptions,
): Promise<AddedWorktree | undefined> {
  const args = [
    "--git-dir",
    common,
    "worktree",
    "add",
    "--lock",
    "--reason",
    buildLockReason(mark),
    "--",
    path,
    mark.branch,
  ];
  let answer: GitResult;
  for (let round = 1; ; round++) {
    answer = await callGitOnce(common, args, { deadlineMs: 120_000, ...options });
    if (!isDisturbed(answer) || round === MAX_GIT_ROUNDS) break;
    await undoAddFolder(common, path, mark, options);
    await sleep(GIT_RETRY_MS * round);
  }
  const worktree = await findMarked(common, path, mark);
  if (answer.exitCode === 0 && worktree) return { worktree, warnings: [] };
  // Git returns the exit code of the post-checkout hook, which runs last.
  if (worktree && (await isCheckedOut(worktree, options)))
    return { worktree, warnings: [`The post-checkout hook failed. ${answer.stderr.trim().slice(-500)}`] };
  if (/already exists|is a missing but/.test(answer.stderr)) return undefined;
  throw createGitError(args, answer, `failed with exit code ${answer.exitCode}`);
}

/** The worktree at the path, if it has this exact mark. */
async function findMarked(common: string, path: string, mark: WorktreeMark): Promise<Worktree | undefined> {
  const admin = (await readAdminFolder(path)) ?? (await findAdminFolder(common, path));
  if (!admin || (await readMark(admin))?.id !== mark.id) return undefined;
  const { task, branch, base } = mark;
  return { task, branch, base, path, repository: common, admin };
}

async function undoAddFolder(
  common: string,
  path: string,
  mark: WorktreeMark,
  options: GitOptions,
): Promise<void> {
  const worktree = await findMarked(common, path, mark);
  if (worktree) await discardWorktree(worktree, options, { keepsBranch: true });
  else await rmdir(path).catch(() => {});
}

async function undoAdd(common: string, path: string, mark: WorktreeMark, options: GitOptions): Promise<void> {
  // The signal may have caused the failure that is being undone.
  const { signal: _, ...rest } = options;
  await undoAddFolder(common, path, mark, rest);
  await deleteBranch(common, mark.branch, mark.base, rest).catch(() => {});
}

async function isCheckedOut({ admin, path, base }: Worktree, options: GitOptions): Promise<boolean> {
  const args = ["--git-dir", admin, "--work-tree", path, "diff-index", "--cached", "--quiet", base, "--"];
  return (await callGit(path, args, options)).exitCode === 0;
}
