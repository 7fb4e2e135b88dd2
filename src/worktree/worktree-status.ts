import { type GitOptions, runGit } from "./git.ts";
import type { Worktree } from "./worktree.ts";

/** A kind of difference from the last commit. */
export type StatusChange = "uncommitted" | "deleted" | "untracked" | "submodule";

/** The kinds of changes in the files of a worktree; ignored files do not count. */
export async function readStatusChanges(worktree: Worktree, options: GitOptions): Promise<StatusChange[]> {
  const args = ["--git-dir", worktree.admin, "--work-tree", worktree.path, "status", "--porcelain=v2", "-z"];
  // Explicit, because the user's configuration may differ.
  args.push("--untracked-files=normal", "--ignore-submodules=none", "--no-renames");
  return parseStatus(await runGit(worktree.path, args, options));
}

/** Parses `git status --porcelain=v2 -z`. */
export function parseStatus(text: string): StatusChange[] {
  const changes = new Set<StatusChange>();
  for (const record of text.split("\0")) {
    if (record === "" || record.startsWith("#") || record.startsWith("!")) continue;
    if (record.startsWith("?")) changes.add("untracked");
    else changes.add(parseChange(record));
  }
  return [...changes];
}

function parseChange(record: string): StatusChange {
  const [, states, submodule] = record.split(" ");
  if (submodule?.startsWith("S")) return "submodule";
  // The file is missing only from the folder; its content is in a commit.
  return states === ".D" ? "deleted" : "uncommitted";
}
