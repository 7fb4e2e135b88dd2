import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitOptions } from "./git.ts";
import { deleteBranch } from "./remove-worktree.ts";
import { listAdminFolders, readWorktree, readWorktreePath } from "./worktree.ts";
import { isHeld, type WorktreeMark } from "./worktree-mark.ts";

const toIntentFolder = (repository: string) => join(repository, "longhaul", "intents");

/**
 * Records the intent to create a branch, runs `work`, and removes the record. An interrupted git call removes its
 * worktree but leaves the branch, which could not be found otherwise.
 */
export async function withIntent<T>(
  repository: string,
  mark: WorktreeMark,
  work: () => Promise<T>,
): Promise<T> {
  const folder = toIntentFolder(repository);
  const file = join(folder, `${randomUUID()}.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify(mark));
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** Deletes branches of processes that died before they had created the worktree. */
export async function collectIntents(
  repository: string,
  options: GitOptions & { readonly now: number; readonly olderThanMs: number },
): Promise<void> {
  const folder = toIntentFolder(repository);
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return;
  const branches = await listWorktreeBranches(repository);
  for (const name of names) {
    const file = join(folder, name);
    const mark = await readIntent(file);
    if (mark && (await isHeld(mark, options.now, options.olderThanMs))) continue;
    // The branch of an existing worktree is removed together with it.
    if (mark && !branches.has(mark.branch)) await deleteBranch(repository, mark.branch, mark.base, options);
    await rm(file, { force: true });
  }
}

async function listWorktreeBranches(repository: string): Promise<Set<string>> {
  const branches = new Set<string>();
  for (const admin of await listAdminFolders(repository)) {
    const worktree = await readWorktree(admin, (await readWorktreePath(admin)) ?? "");
    if (worktree) branches.add(worktree.branch);
  }
  return branches;
}

async function readIntent(file: string): Promise<WorktreeMark | undefined> {
  try {
    const mark = JSON.parse(await readFile(file, "utf8"));
    return typeof mark?.branch === "string" && typeof mark.base === "string" ? mark : undefined;
  } catch {
    // The crash truncated the record, so the branch was not created.
    return undefined;
  }
}
