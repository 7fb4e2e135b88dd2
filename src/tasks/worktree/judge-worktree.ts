import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkFields } from "../../model/argument-checks.ts";
import { isLonghaulError } from "../../model/errors.ts";
import { type GitOptions, runGit } from "./git.ts";
import { hasOwnCommits, hasOwnStash } from "./own-commits.ts";
import { hasSubmoduleCommits } from "./submodules.ts";
import { checkWorktree, readAdminFolder, type Worktree } from "./worktree.ts";
import { readMark } from "./worktree-mark.ts";

/** A kind of content that would be lost or forgotten with the worktree. */
type WorktreeChange = StatusChange | "commits" | "stash" | "branch" | "unfinished";

/** Whether a worktree contains work of its own, if that can be determined. */
export type Verdict =
  | { readonly state: "unchanged" }
  | { readonly state: "changed"; readonly changes: readonly WorktreeChange[] }
  | { readonly state: "undecidable"; readonly reason: string };

/** Files of the admin folder that exist during an unfinished operation or belong only to this worktree. */
const UNFINISHED_FILES = [
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "BISECT_LOG",
  "rebase-merge",
  "rebase-apply",
  "sequencer",
  "refs/worktree",
];

/**
 * Determines whether a worktree contains work. Read-only and lock-free; throws only when its signal fires. A git that
 * fails or hangs yields "undecidable".
 */
export async function judgeWorktree(worktree: Worktree, options: GitOptions = {}): Promise<Verdict> {
  checkWorktree(worktree);
  checkFields("options", options, { signal: "signal?" });
  try {
    return await decideVerdict(worktree, { deadlineMs: 30_000, ...options });
  } catch (error) {
    if (isLonghaulError(error, "ABORTED")) throw error;
    return buildUndecidable(error instanceof Error ? error.message : String(error));
  }
}

async function decideVerdict(worktree: Worktree, options: GitOptions): Promise<Verdict> {
  const { path, admin } = worktree;
  const isThere = existsSync(path);
  // An unmounted disk lacks the root as well; a deleted folder lacks only the folder.
  if (!isThere && !existsSync(dirname(path))) return buildUndecidable(`${dirname(path)} is not there.`);
  if (!existsSync(admin)) return buildUndecidable("Git knows nothing of it any more.");
  const isRemoving = (await readMark(admin))?.isRemoving === true;
  const isCut = isRemoving && !existsSync(join(path, ".git"));
  if (isThere && !isCut && (await readAdminFolder(path)) !== admin)
    return buildUndecidable(`Its .git file does not lead to ${admin}.`);
  const [isOwnCommits, isOwnStash, others, isHidden, isOwnBelow] = await Promise.all([
    hasOwnCommits(worktree, options),
    hasOwnStash(worktree, options),
    isThere ? readStatusChanges(worktree, options) : [],
    isThere && hasHiddenChanges(worktree, options),
    hasSubmoduleCommits(worktree, options),
  ]);
  const changes = new Set<WorktreeChange>(others);
  // An interrupted removal has begun to delete committed files.
  if (isRemoving) changes.delete("deleted");
  if (isOwnCommits) changes.add("commits");
  if (isOwnStash) changes.add("stash");
  if (isOwnBelow) changes.add("submodule");
  if (UNFINISHED_FILES.some((name) => existsSync(join(admin, name)))) changes.add("unfinished");
  if (await isOnOtherBranch(worktree, options)) changes.add("branch");
  if (changes.size > 0) return { state: "changed", changes: [...changes].sort() };
  if (isHidden) return buildUndecidable("Git was told not to look at some of its files.");
  return { state: "unchanged" };
}

/** Commits on a branch created in the worktree survive without it, but would go unnoticed. */
async function isOnOtherBranch({ admin, branch }: Worktree, options: GitOptions): Promise<boolean> {
  const head = (
    await runGit(admin, ["--git-dir", admin, "rev-parse", "--symbolic-full-name", "HEAD"], options)
  ).trim();
  return head !== "HEAD" && head !== `refs/heads/${branch}`;
}

function buildUndecidable(reason: string): Verdict {
  return { state: "undecidable", reason };
}

/**
 * Whether git was told to ignore changes of an existing file (`--assume-unchanged`, `--skip-worktree`). Files excluded
 * by a sparse checkout do not exist and do not count.
 */
async function hasHiddenChanges(worktree: Worktree, options: GitOptions): Promise<boolean> {
  const args = ["--git-dir", worktree.admin, "--work-tree", worktree.path, "ls-files", "-v", "-z"];
  const records = (await runGit(worktree.path, args, options)).split("\0");
  return records.some((record) => {
    const flag = record.slice(0, 1);
    if (flag !== flag.toUpperCase()) return true;
    return flag === "S" && existsSync(join(worktree.path, record.slice(2)));
  });
}

/** A kind of difference from the last commit. */
type StatusChange = "uncommitted" | "deleted" | "untracked" | "submodule";

/** The kinds of changes in the files of a worktree; ignored files do not count. */
async function readStatusChanges(worktree: Worktree, options: GitOptions): Promise<StatusChange[]> {
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
