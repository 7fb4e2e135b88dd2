import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type GitOptions, runGit } from "./git.ts";
import { hasUnreachableCommits, listVisitedCommits } from "./own-commits.ts";
import type { Worktree } from "./worktree.ts";

const MAX_DEPTH = 8;

/** Whether submodules fetched for this worktree have commits or stashes that no remote has. */
export async function hasSubmoduleCommits(worktree: Worktree, options: GitOptions): Promise<boolean> {
  for (const folder of await listGitFolders(join(worktree.admin, "modules"), 0)) {
    const args = ["--git-dir", folder, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash"];
    const tips = (await runGit(folder, args, options)).split("\n").filter(Boolean);
    const visited = await listVisitedCommits(folder, options);
    if (await hasUnreachableCommits(["--not"], [...visited, ...tips], folder, options)) return true;
  }
  return false;
}

/** Whether submodules were fetched; git removes such worktrees only with --force. */
export async function hasSubmodules(worktree: Worktree): Promise<boolean> {
  return (await listGitFolders(join(worktree.admin, "modules"), 0)).length > 0;
}

/** Git folders of submodules, recursively; submodule names may contain slashes. */
async function listGitFolders(folder: string, depth: number): Promise<string[]> {
  if (depth > MAX_DEPTH || !existsSync(folder)) return [];
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const found: string[] = [];
  for (const { name } of names) {
    const path = join(folder, name);
    const isGit = existsSync(join(path, "HEAD")) && existsSync(join(path, "objects"));
    if (isGit) found.push(path);
    found.push(...(await listGitFolders(isGit ? join(path, "modules") : path, depth + 1)));
  }
  return found;
}
