import { existsSync } from "node:fs";
import { join } from "node:path";
import { type GitOptions, git } from "./git.ts";
import type { Worktree } from "./worktree.ts";

/**
 * Tells whether git was told not to look at a file that is there (`--assume-unchanged`, `--skip-worktree`), so that its
 * changes would not be seen. Files that a sparse checkout leaves out are not there.
 */
export async function isHiding(worktree: Worktree, options: GitOptions): Promise<boolean> {
  const args = ["--git-dir", worktree.admin, "--work-tree", worktree.path, "ls-files", "-v", "-z"];
  const records = (await git(worktree.path, args, options)).split("\0");
  return records.some((record) => {
    const flag = record.slice(0, 1);
    if (flag !== flag.toUpperCase()) return true;
    return flag === "S" && existsSync(join(worktree.path, record.slice(2)));
  });
}
