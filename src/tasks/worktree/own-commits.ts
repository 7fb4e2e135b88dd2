import { type GitOptions, runGit } from "./git.ts";
import { findBranchTip, findNewestStash } from "./repository.ts";
import type { Worktree } from "./worktree.ts";
import { readMark } from "./worktree-mark.ts";

/**
 * Whether the worktree has made or visited commits that only it and its branch reach: on its branch, on a detached
 * HEAD, or abandoned. They would be lost with the worktree.
 */
export async function hasOwnCommits(worktree: Worktree, options: GitOptions): Promise<boolean> {
  const { admin, branch, base } = worktree;
  const [visited, tip] = await Promise.all([
    listVisitedCommits(admin, options),
    findBranchTip(admin, branch, options),
  ]);
  const commits = new Set([...visited, ...(tip ? [tip] : [])]);
  commits.delete(base);
  const others = ["--not", base, `--exclude=${branch}`, "--branches"];
  return commits.size > 0 && hasUnreachableCommits(others, [...commits], admin, options);
}

/** Whether any of the commits is unreachable from the given places, tags and remotes. */
export async function hasUnreachableCommits(
  places: readonly string[],
  commits: readonly string[],
  gitFolder: string,
  options: GitOptions,
): Promise<boolean> {
  const args = [
    "--git-dir",
    gitFolder,
    "rev-list",
    "--max-count=1",
    "--stdin",
    ...places,
    "--tags",
    "--remotes",
  ];
  return (await runGit(gitFolder, args, options, `${commits.join("\n")}\n`)) !== "";
}

/** Whether a stash was created in the worktree since its creation; all worktrees of a repository share the stashes. */
export async function hasOwnStash(worktree: Worktree, options: GitOptions): Promise<boolean> {
  const { admin, branch, base } = worktree;
  const newest = await findNewestStash(admin, options);
  const before = (await readMark(admin))?.stash;
  if (!newest || newest === before) return false;
  const args = [
    "--git-dir",
    admin,
    "log",
    "-g",
    "--no-show-signature",
    "--format=%H %P%x09%gs",
    "refs/stash",
    "--",
  ];
  const list = (await runGit(admin, args, options)).split("\n").filter(Boolean);
  const end = before ? list.findIndex((line) => line.startsWith(before)) : -1;
  const visited = new Set([base, ...(await listVisitedCommits(admin, options))]);
  return list.slice(0, end < 0 ? list.length : end).some((line) => {
    const [ids = "", words = ""] = line.split("\t");
    const on = /^(?:WIP on|On) (.*?): /.exec(words)?.[1];
    // A stash that names no branch belongs to this worktree if its commit was checked out here.
    return (
      on === branch || ((on === undefined || on === "(no branch)") && visited.has(ids.split(" ")[1] ?? ""))
    );
  });
}

/** Every commit that the HEAD of a git folder has pointed to. */
export async function listVisitedCommits(admin: string, options: GitOptions): Promise<string[]> {
  const head = runGit(admin, ["--git-dir", admin, "rev-parse", "HEAD"], options);
  const log = runGit(admin, ["--git-dir", admin, "rev-list", "-g", "HEAD", "--"], options);
  const texts = await Promise.all([head, log]);
  return [...new Set(texts.join("\n").split("\n").filter(Boolean))];
}
