import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitOptions } from "./git.ts";
import { isHeld, type Mark } from "./mark.ts";
import { deleteBranch } from "./remove.ts";
import { adminsOf, pathOf, worktreeOf } from "./worktree.ts";

const folderOf = (repository: string) => join(repository, "longhaul", "intents");

/**
 * Writes down that a branch is about to be made, does the work, and crosses it out. A git that is broken off in the middle
 * takes its worktree back but leaves the branch, which nobody would look for.
 */
export async function withIntent<T>(repository: string, mark: Mark, work: () => Promise<T>): Promise<T> {
  const folder = folderOf(repository);
  const file = join(folder, `${randomUUID()}.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify(mark));
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** Deletes branches that were made by processes that died before their worktrees were there. */
export async function collectIntents(
  repository: string,
  options: GitOptions & { readonly now: number; readonly olderThanMs: number },
): Promise<void> {
  const folder = folderOf(repository);
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return;
  const branches = await branchesOfWorktrees(repository);
  for (const name of names) {
    const file = join(folder, name);
    const mark = await readIntent(file);
    if (mark && (await isHeld(mark, options.now, options.olderThanMs))) continue;
    // The branch of a worktree that came to be goes with it.
    if (mark && !branches.has(mark.branch)) await deleteBranch(repository, mark.branch, mark.base, options);
    await rm(file, { force: true });
  }
}

async function branchesOfWorktrees(repository: string): Promise<Set<string>> {
  const branches = new Set<string>();
  for (const admin of await adminsOf(repository)) {
    const worktree = await worktreeOf(admin, (await pathOf(admin)) ?? "");
    if (worktree) branches.add(worktree.branch);
  }
  return branches;
}

async function readIntent(file: string): Promise<Mark | undefined> {
  try {
    const mark = JSON.parse(await readFile(file, "utf8"));
    return typeof mark?.branch === "string" && typeof mark.base === "string" ? mark : undefined;
  } catch {
    // Torn by the crash itself: the branch was not begun.
    return undefined;
  }
}
