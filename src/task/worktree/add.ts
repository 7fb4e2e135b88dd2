import { rmdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import {
  askGit,
  askGitOnce,
  DISTURBED_MS,
  type GitAnswer,
  type GitOptions,
  gitFailed,
  isDisturbed,
  MOST_ROUNDS,
} from "./git.ts";
import { lockReason, type Mark, readMark } from "./mark.ts";
import { deleteBranch, discard } from "./remove.ts";
import { hasBranch } from "./repository.ts";
import { adminFor, adminOf, type Worktree } from "./worktree.ts";

/** A worktree that git has added, with non-fatal warnings. */
export interface Added {
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
  mark: Mark,
  options: GitOptions,
): Promise<Added | undefined> {
  // Create the branch first, with an atomic call: the winner may also undo it.
  const ref = `refs/heads/${mark.branch}`;
  const create = ["--git-dir", common, "update-ref", "-m", "branch: Created for a task", ref, mark.base, ""];
  // Ignore the signal: an aborted call would not tell whether it won.
  const { signal: _, ...rest } = options;
  const made = await askGit(common, create, rest);
  if (made.exitCode !== 0 && (await hasBranch(common, mark.branch, options))) return undefined;
  if (made.exitCode !== 0) throw gitFailed(create, made, `failed with exit code ${made.exitCode}`);
  let added: Added | undefined;
  try {
    added = await addFolder(common, path, mark, options);
  } finally {
    if (!added) await takeBack(common, path, mark, options);
  }
  return added;
}

async function addFolder(
  common: string,
  path: string,
  mark: Mark,
  options: GitOptions,
): Promise<Added | undefined> {
  const args = [
    "--git-dir",
    common,
    "worktree",
    "add",
    "--lock",
    "--reason",
    lockReason(mark),
    "--",
    path,
    mark.branch,
  ];
  let answer: GitAnswer;
  for (let round = 1; ; round++) {
    answer = await askGitOnce(common, args, { deadlineMs: 120_000, ...options });
    if (!isDisturbed(answer) || round === MOST_ROUNDS) break;
    await takeBackFolder(common, path, mark, options);
    await sleep(DISTURBED_MS * round);
  }
  const worktree = await findOurs(common, path, mark);
  if (answer.exitCode === 0 && worktree) return { worktree, warnings: [] };
  // Git returns the exit code of the post-checkout hook, which runs last.
  if (worktree && (await isCheckedOut(worktree, options)))
    return { worktree, warnings: [`The post-checkout hook failed. ${answer.stderr.trim().slice(-500)}`] };
  if (/already exists|is a missing but/.test(answer.stderr)) return undefined;
  throw gitFailed(args, answer, `failed with exit code ${answer.exitCode}`);
}

/** The worktree at the path, if it has this exact mark. */
async function findOurs(common: string, path: string, mark: Mark): Promise<Worktree | undefined> {
  const admin = (await adminOf(path)) ?? (await adminFor(common, path));
  if (!admin || (await readMark(admin))?.id !== mark.id) return undefined;
  const { task, branch, base } = mark;
  return { task, branch, base, path, repository: common, admin };
}

async function takeBackFolder(common: string, path: string, mark: Mark, options: GitOptions): Promise<void> {
  const worktree = await findOurs(common, path, mark);
  if (worktree) await discard(worktree, options, { keepsBranch: true });
  else await rmdir(path).catch(() => {});
}

async function takeBack(common: string, path: string, mark: Mark, options: GitOptions): Promise<void> {
  // The signal may have caused the failure that is being undone.
  const { signal: _, ...rest } = options;
  await takeBackFolder(common, path, mark, rest);
  await deleteBranch(common, mark.branch, mark.base, rest).catch(() => {});
}

async function isCheckedOut({ admin, path, base }: Worktree, options: GitOptions): Promise<boolean> {
  const args = ["--git-dir", admin, "--work-tree", path, "diff-index", "--cached", "--quiet", base, "--"];
  return (await askGit(path, args, options)).exitCode === 0;
}
