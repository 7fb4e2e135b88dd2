import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { callGit, createGitError, type GitOptions, runGit } from "./git.ts";
import { createWorktreeError } from "./worktree.ts";

/** A repository as seen from one of its folders. */
interface Repository {
  /** The git folder that all worktrees share. */
  readonly common: string;
  readonly isBare: boolean;
  /** Path of the folder relative to the top of its working tree; empty at the top. */
  readonly prefix: string;
}

/** Inspects a folder; throws WORKTREE_REFUSED if it is in no repository. */
export async function inspectRepository(folder: string, options: GitOptions): Promise<Repository> {
  const args = ["rev-parse", "--git-common-dir", "--is-bare-repository", "--show-prefix"];
  const answer = await callGit(folder, args, options);
  if (/not a git repository/i.test(answer.stderr))
    throw createWorktreeError(
      "not-a-repository",
      `${JSON.stringify(folder)} is in no git repository; run "git init" there, or start the task without isolation.`,
      folder,
    );
  // In a bare repository --show-prefix fails after the other values have been printed.
  const [common, bare, prefix = ""] = answer.stdout.split("\n");
  if (!common || (answer.exitCode !== 0 && bare !== "true"))
    throw createGitError(args, answer, `failed with exit code ${answer.exitCode}`);
  return { common: await realpath(resolve(folder, common)), isBare: bare === "true", prefix };
}

/** The commit that a worktree starts from; throws WORKTREE_REFUSED if it does not exist. */
export async function findBase(
  folder: string,
  base: string | undefined,
  options: GitOptions,
): Promise<string> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${base ?? "HEAD"}^{commit}`];
  const { exitCode, stdout } = await callGit(folder, args, options);
  // Older git versions echo --end-of-options.
  const commit = stdout.trim().split("\n").at(-1);
  if (exitCode === 0 && commit) return commit;
  if (base !== undefined)
    throw createWorktreeError(
      "base-unknown",
      `base is ${JSON.stringify(base)}; the repository has no such commit.`,
      folder,
    );
  throw createWorktreeError(
    "no-commits",
    `The repository of ${JSON.stringify(folder)} has no commit yet; make a first one, a worktree starts from it.`,
    folder,
  );
}

/** The default root of worktrees: next to the repository, so that its files and searches do not include them. */
export function getDefaultRoot(common: string): string {
  const top = basename(common) === ".git" ? dirname(common) : common;
  return join(dirname(top), `${basename(top)}.worktrees`);
}

/** Whether a branch exists. */
export async function hasBranch(common: string, branch: string, options: GitOptions): Promise<boolean> {
  const args = ["--git-dir", common, "show-ref", "--verify", "--quiet", `refs/heads/${branch}`];
  return (await callGit(common, args, options)).exitCode === 0;
}

/** The newest stash of a repository, or "". */
export async function findNewestStash(common: string, options: GitOptions): Promise<string> {
  const args = ["--git-dir", common, "for-each-ref", "--format=%(objectname)", "refs/stash"];
  return (await runGit(common, args, options)).trim();
}

/** The commit that a branch points to, or "" if the branch does not exist. */
export async function findBranchTip(gitFolder: string, branch: string, options: GitOptions): Promise<string> {
  const args = ["--git-dir", gitFolder, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`];
  return (await runGit(gitFolder, args, options)).trim();
}
