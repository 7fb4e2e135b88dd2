import { type GitOptions, git } from "./git.ts";
import { readMark } from "./mark.ts";
import { newestStash, tipOf } from "./repository.ts";
import type { Worktree } from "./worktree.ts";

/**
 * Tells whether there are commits that were made or visited in the worktree and that nothing but it and its branch leads
 * to: on the branch, on no branch, or given up since. They would be lost with it.
 */
export async function hasOwnCommits(worktree: Worktree, options: GitOptions): Promise<boolean> {
  const { admin, branch, base } = worktree;
  const [visited, tip] = await Promise.all([visitedCommits(admin, options), tipOf(admin, branch, options)]);
  const commits = new Set([...visited, ...(tip ? [tip] : [])]);
  commits.delete(base);
  const others = ["--not", base, `--exclude=${branch}`, "--branches"];
  return commits.size > 0 && isUnknownTo(others, [...commits], admin, options);
}

/** Tells whether one of the commits is reached neither from the places named nor from tags and remotes. */
export async function isUnknownTo(
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
  return (await git(gitFolder, args, options, `${commits.join("\n")}\n`)) !== "";
}

/** Tells whether a stash was put away in the worktree since it was made; stashes are the whole repository's. */
export async function hasOwnStash(worktree: Worktree, options: GitOptions): Promise<boolean> {
  const { admin, branch, base } = worktree;
  const newest = await newestStash(admin, options);
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
  const list = (await git(admin, args, options)).split("\n").filter(Boolean);
  const end = before ? list.findIndex((line) => line.startsWith(before)) : -1;
  const visited = new Set([base, ...(await visitedCommits(admin, options))]);
  return list.slice(0, end < 0 ? list.length : end).some((line) => {
    const [ids = "", words = ""] = line.split("\t");
    const on = /^(?:WIP on|On) (.*?): /.exec(words)?.[1];
    // One that names no branch was made there if it was made on a commit that was checked out there.
    return (
      on === branch || ((on === undefined || on === "(no branch)") && visited.has(ids.split(" ")[1] ?? ""))
    );
  });
}

/** Every commit that HEAD of a git folder has been at. */
export async function visitedCommits(admin: string, options: GitOptions): Promise<string[]> {
  const head = git(admin, ["--git-dir", admin, "rev-parse", "HEAD"], options);
  const log = git(admin, ["--git-dir", admin, "rev-list", "-g", "HEAD", "--"], options);
  const texts = await Promise.all([head, log]);
  return [...new Set(texts.join("\n").split("\n").filter(Boolean))];
}
