import { type GitOptions, git } from "./git.ts";
import type { Worktree } from "./worktree.ts";

/** What differs from the last commit. */
export type StatusChange = "uncommitted" | "deleted" | "untracked" | "submodule";

/** Which kinds of changes the files of a worktree hold; ignored files are none. */
export async function statusChanges(worktree: Worktree, options: GitOptions): Promise<StatusChange[]> {
  const args = ["--git-dir", worktree.admin, "--work-tree", worktree.path, "status", "--porcelain=v2", "-z"];
  // Said aloud, for a user's configuration may say otherwise.
  args.push("--untracked-files=normal", "--ignore-submodules=none", "--no-renames");
  return parseStatus(await git(worktree.path, args, options));
}

/** Reads `git status --porcelain=v2 -z`. */
export function parseStatus(text: string): StatusChange[] {
  const changes = new Set<StatusChange>();
  for (const record of text.split("\0")) {
    if (record === "" || record.startsWith("#") || record.startsWith("!")) continue;
    if (record.startsWith("?")) changes.add("untracked");
    else changes.add(kindOf(record));
  }
  return [...changes];
}

function kindOf(record: string): StatusChange {
  const [, states, submodule] = record.split(" ");
  if (submodule?.startsWith("S")) return "submodule";
  // Missing from the folder alone: what it held is in a commit.
  return states === ".D" ? "deleted" : "uncommitted";
}
