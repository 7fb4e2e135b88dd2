import { existsSync } from "node:fs";
import { join } from "node:path";
import { type GitOptions, runGit } from "./git.ts";
import type { Worktree } from "./worktree.ts";

/**
 * Whether git was told to ignore changes of an existing file (`--assume-unchanged`, `--skip-worktree`). Files excluded
 * by a sparse checkout do not exist and do not count.
 */
export async function hasHiddenChanges(worktree: Worktree, options: GitOptions): Promise<boolean> {
  const args = ["--git-dir", worktree.admin, "--work-tree", worktree.path, "ls-files", "-v", "-z"];
  const records = (await runGit(worktree.path, args, options)).split("\0");
  return records.some((record) => {
    const flag = record.slice(0, 1);
    if (flag !== flag.toUpperCase()) return true;
    return flag === "S" && existsSync(join(worktree.path, record.slice(2)));
  });
}
