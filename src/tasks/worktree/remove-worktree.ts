import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkFields } from "../../model/argument-checks.ts";
import { isLonghaulError } from "../../model/errors.ts";
import { isProcessAlive } from "../process/system-table.ts";
import { callGit, type GitOptions, runGit } from "./git.ts";
import { judgeWorktree, type Verdict } from "./judge-worktree.ts";
import { findBranchTip } from "./repository.ts";
import { hasSubmodules } from "./submodules.ts";
import { checkWorktree, type Worktree } from "./worktree.ts";
import { getCurrentHolder, type Holder, readMark, type WorktreeMark, writeMark } from "./worktree-mark.ts";

const PAUSE_MS = 20;

/** Result of removing a worktree. */
export interface Removal {
  readonly verdict: Verdict;
  readonly isRemoved: boolean;
  /** False if the branch is kept, is checked out elsewhere, or did not exist. */
  readonly isBranchRemoved: boolean;
  /** For the notice, if the worktree is kept. */
  readonly path: string;
  readonly branch: string;
}

/**
 * Removes a worktree without work of its own, and its branch. A worktree with work is kept and released, so that its
 * user can handle it with git. Throws only when its signal fires.
 */
export async function removeIfUnchanged(worktree: Worktree, options: GitOptions = {}): Promise<Removal> {
  checkWorktree(worktree);
  checkFields("options", options, { signal: "signal?" });
  const locked = await withWorktreeLock(worktree, () => removeUnderLock(worktree, options), options);
  if (locked) return locked.value;
  const reason = existsSync(worktree.admin) ? "Somebody else is at it." : "Git knows nothing of it any more.";
  return buildRemoval(worktree, { state: "undecidable", reason });
}

/** Removes the branch of a worktree that is already gone, unless it has commits. */
export async function removeBranchOnly(worktree: Worktree, options: GitOptions): Promise<Removal> {
  const { repository, branch, base } = worktree;
  const removed = {
    ...buildRemoval(worktree, { state: "unchanged" }),
    isRemoved: true,
    isBranchRemoved: true,
  };
  // The whole repository is gone.
  if (!existsSync(repository)) return removed;
  const tip = await findBranchTip(repository, branch, options);
  if (tip === "" || (tip === base && (await deleteBranch(repository, branch, base, options)))) return removed;
  const verdict: Verdict = tip === base ? { state: "unchanged" } : { state: "changed", changes: ["commits"] };
  return { ...removed, verdict, isBranchRemoved: false };
}

/** Runs work under the worktree's lock, which is exclusive across processes; undefined if the lock is not available. */
export function withWorktreeLock<T>(worktree: Worktree, work: () => Promise<T>, options: GitOptions) {
  const lock = join(worktree.admin, "longhaul.lock");
  return withLockFile(lock, work, options.signal ? { signal: options.signal } : {});
}

/** Removes a worktree if unchanged; the caller holds the lock. */
async function removeUnderLock(worktree: Worktree, options: GitOptions): Promise<Removal> {
  try {
    const mark = await releaseHolder(worktree);
    const decision = await judgeWorktree(worktree, options);
    const unlock = ["--git-dir", worktree.repository, "worktree", "unlock", "--", worktree.path];
    await callGit(worktree.repository, unlock, options);
    if (decision.state !== "unchanged") return buildRemoval(worktree, decision);
    const tip = await findBranchTip(worktree.admin, worktree.branch, options);
    await writeMark(worktree.admin, { ...mark, isRemoving: true });
    const isBranchRemoved = tip !== "" && (await removeBranch(worktree, tip, options));
    if (mark.isRemoving || !existsSync(worktree.path)) await discardWorktree(worktree, options);
    else await removeFolder(worktree, mark, isBranchRemoved ? tip : "", options);
    return { ...buildRemoval(worktree, decision), isRemoved: true, isBranchRemoved };
  } catch (error) {
    if (isLonghaulError(error, "ABORTED")) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return buildRemoval(worktree, { state: "undecidable", reason });
  }
}

/** Removes a worktree left by a process; an incomplete one contains no work and is discarded. */
export async function removeLeftover(
  worktree: Worktree,
  mark: WorktreeMark,
  options: GitOptions,
): Promise<Removal> {
  if (mark.isComplete) return removeUnderLock(worktree, options);
  await discardWorktree(worktree, options);
  return { ...buildRemoval(worktree, { state: "unchanged" }), isRemoved: true, isBranchRemoved: true };
}

/** Removes a worktree that contains no work or is partly removed; never throws. */
export async function discardWorktree(
  worktree: Worktree,
  options: GitOptions,
  { keepsBranch = false } = {},
): Promise<void> {
  const { repository, path, admin, branch, base } = worktree;
  // The signal may have interrupted the earlier call.
  const { signal: _, ...rest } = options;
  const args = ["--git-dir", repository, "worktree", "remove", "--force", "--force", "--", path];
  await callGit(repository, args, rest).catch(() => {});
  await rm(path, { recursive: true, force: true }).catch(() => {});
  await rm(admin, { recursive: true, force: true }).catch(() => {});
  if (!keepsBranch) await deleteBranch(repository, branch, base, rest).catch(() => {});
}

/** Removes the holder from the mark. */
async function releaseHolder(worktree: Worktree): Promise<WorktreeMark> {
  const mark = await readMark(worktree.admin);
  if (!mark) throw new Error("Its mark is gone.");
  const { heldBy: _, ...rest } = mark;
  await writeMark(worktree.admin, rest);
  return rest;
}

/**
 * Removes the folder without force, so that git checks it once more; if it has changed meanwhile,
 * restores mark and branch.
 */
async function removeFolder(
  worktree: Worktree,
  mark: WorktreeMark,
  tip: string,
  options: GitOptions,
): Promise<void> {
  const { repository, admin, path, branch } = worktree;
  const force = (await hasSubmodules(worktree)) ? ["--force"] : [];
  const args = ["--git-dir", repository, "worktree", "remove", ...force, "--", path];
  const answer = await callGit(repository, args, { deadlineMs: 120_000, ...options });
  if (answer.exitCode === 0) return;
  if (!existsSync(join(path, ".git"))) return discardWorktree(worktree, options);
  await writeMark(admin, mark);
  if (tip) {
    await runGit(
      repository,
      ["--git-dir", repository, "update-ref", `refs/heads/${branch}`, tip, ""],
      options,
    );
    await runGit(admin, ["--git-dir", admin, "symbolic-ref", "HEAD", `refs/heads/${branch}`], options);
  }
  throw new Error(answer.stderr.trim());
}

/**
 * Removes the branch before the folder: a crash in between leaves a worktree, which is found later, instead
 * of a branch, which is not.
 */
async function removeBranch(worktree: Worktree, tip: string, options: GitOptions): Promise<boolean> {
  const { admin, repository, branch } = worktree;
  const head = (await runGit(admin, ["--git-dir", admin, "rev-parse", "HEAD"], options)).trim();
  await runGit(admin, ["--git-dir", admin, "update-ref", "--no-deref", "HEAD", head], options);
  return deleteBranch(repository, branch, tip, options);
}

/** Deletes a branch if it points to `tip` and is checked out nowhere. */
export async function deleteBranch(
  repository: string,
  branch: string,
  tip: string,
  options: GitOptions,
): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  const look = ["--git-dir", repository, "for-each-ref", "--format=%(objectname) %(worktreepath)", ref];
  if ((await runGit(repository, look, options)).trim() !== tip) return false;
  const args = ["--git-dir", repository, "update-ref", "-d", ref, tip];
  return (await callGit(repository, args, options)).exitCode === 0;
}

function buildRemoval({ path, branch }: Worktree, decision: Verdict): Removal {
  return { verdict: decision, isRemoved: false, isBranchRemoved: false, path, branch };
}

/** Limits for waiting for a lock. */
interface LockOptions {
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs `work` while holding a lock file. Returns undefined if the lock was not free in time or its folder is gone. The
 * lock of a dead process of this machine is taken over.
 */
async function withLockFile<T>(
  path: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<{ readonly value: T } | undefined> {
  const text = JSON.stringify({ ...(await getCurrentHolder()), id: randomUUID() });
  const end = performance.now() + (options.waitMs ?? 10_000);
  while (!(await takeLock(path, text))) {
    if (options.signal?.aborted || performance.now() > end) return undefined;
    if (!(await removeDeadLock(path))) await sleep(PAUSE_MS);
  }
  if ((await readContent(path)) !== text) return undefined;
  try {
    return { value: await work() };
  } finally {
    if ((await readContent(path)) === text) await rm(path, { force: true });
  }
}

/** Returns whether to stop trying: the lock is taken, or can never be taken. */
async function takeLock(path: string, text: string): Promise<boolean> {
  // Write a draft first: a lock file without an owner could never be taken over.
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { flag: "wx" });
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return true;
    throw error;
  }
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    if (hasErrorCode(error, "ENOENT")) return true;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function removeDeadLock(path: string): Promise<boolean> {
  const text = await readContent(path);
  if (text === undefined) return true;
  const holder = parseHolder(text);
  if (holder && (holder.host !== hostname() || (await isProcessAlive(holder)))) return false;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return true;
  }
  // If another process took the lock over just before, restore its lock.
  if ((await readContent(aside)) !== text) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return true;
}

function parseHolder(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text);
    return typeof holder?.pid === "number" ? holder : undefined;
  } catch {
    return undefined;
  }
}

async function readContent(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
