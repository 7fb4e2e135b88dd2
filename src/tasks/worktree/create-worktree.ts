import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, realpath, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { checkFields } from "../../model/argument-checks.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type Clock, systemClock } from "../../model/clock.ts";
import { withIntent } from "./branch-intent.ts";
import { callGit, createGitError, type GitOptions, runGit } from "./git.ts";
import { deleteBranch, discardWorktree } from "./remove-worktree.ts";
import { findBase, findNewestStash, getDefaultRoot, hasBranch, inspectRepository } from "./repository.ts";
import { createWorktreeError, findAdminFolder, readAdminFolder, type Worktree } from "./worktree.ts";
import {
  buildLockReason,
  getCurrentHolder,
  readMark,
  type WorktreeMark,
  writeMark,
} from "./worktree-mark.ts";

/** Options for creating a worktree. */
export interface CreateWorktreeOptions extends GitOptions {
  /** Any folder of the repository, or a bare repository. */
  readonly repository: string;
  readonly task: string;
  /** `longhaul/<task>` by default, with a number appended if that is taken. */
  readonly branch?: string;
  /** Any revision; HEAD by default. */
  readonly base?: string;
  /** The folder that contains the worktrees; `<repository>.worktrees` next to the repository by default. */
  readonly root?: string;
  /** Whether submodules are fetched; by default their folders stay empty, as with git. */
  readonly submodules?: "leave" | "update";
  readonly clock?: Clock;
}

/** A new worktree. */
interface CreatedWorktree {
  readonly worktree: Worktree;
  /** The folder inside the worktree that corresponds to `repository`, which may be a subfolder. */
  readonly folder: string;
  /** Whether the source folder has uncommitted changes, which the worktree does not contain. */
  readonly isParentDirty: boolean;
  /** Non-fatal problems, such as a failed hook. */
  readonly warnings: readonly string[];
}

const MAX_NAMES = 100;
const CREATE_FIELDS = {
  repository: "name",
  task: "text",
  base: "name?",
  branch: "name?",
  root: "name?",
  signal: "signal?",
} as const;

/** Creates a worktree with its own branch for a task, held by this process. A failed call leaves nothing behind. */
export async function createWorktree(options: CreateWorktreeOptions): Promise<CreatedWorktree> {
  checkFields("options", options, CREATE_FIELDS);
  const from = resolve(options.repository);
  const { common, isBare, prefix } = await inspectRepository(from, options);
  const base = await findBase(from, options.base, options);
  const isParentDirty = isBare ? Promise.resolve(false) : isDirty(from, options);
  isParentDirty.catch(() => {});
  const root = resolve(options.root ?? getDefaultRoot(common));
  await mkdir(root, { recursive: true });
  const now = (options.clock ?? systemClock).now();
  const mark: Omit<WorktreeMark, "branch"> = {
    id: randomUUID(),
    task: options.task,
    ...dropUndefined({ tag: options.tag }),
    base,
    stash: await findNewestStash(common, options),
    createdAt: now,
    heartbeatAt: now,
    heldBy: await getCurrentHolder(),
    isComplete: false,
  };
  const { worktree, warnings } = await addUnderFreeName(common, await realpath(root), mark, options);
  try {
    if (options.submodules === "update" && existsSync(join(worktree.path, ".gitmodules")))
      await runGit(worktree.path, ["submodule", "update", "--init", "--recursive"], options);
    await writeMark(worktree.admin, { ...mark, branch: worktree.branch, isComplete: true });
  } catch (error) {
    await discardWorktree(worktree, options);
    throw error;
  }
  const folder = resolveFolder(worktree, prefix);
  return { worktree, folder, isParentDirty: await isParentDirty, warnings };
}

/** The folder at `prefix` inside a worktree, or its top folder if that does not exist. */
export function resolveFolder({ path }: Worktree, prefix: string): string {
  const inside = resolve(path, prefix);
  return existsSync(inside) ? inside : path;
}

/** Tries one name after the other, because other processes may create worktrees of the same repository. */
async function addUnderFreeName(
  common: string,
  root: string,
  mark: Omit<WorktreeMark, "branch">,
  options: CreateWorktreeOptions,
): Promise<AddedWorktree> {
  const wanted = options.branch ?? toBranchName(options.task, await hasBranch(common, "longhaul", options));
  if (options.branch !== undefined) await checkBranch(common, options.branch, options);
  for (let number = 1; number <= MAX_NAMES; number++) {
    const suffix = number === 1 ? "" : `-${number}`;
    const branch = options.branch ?? wanted + suffix;
    const path = join(root, toTaskName(options.task) + suffix);
    if (existsSync(path)) continue;
    if (await hasBranch(common, branch, options)) {
      if (options.branch === undefined) continue;
      throw createWorktreeError(
        "branch-taken",
        `branch is ${JSON.stringify(branch)}, which exists; choose another.`,
        path,
      );
    }
    const whole = { ...mark, branch };
    const added = await withIntent(common, whole, () => addWorktree(common, path, whole, options));
    if (added) return added;
  }
  throw createWorktreeError(
    "branch-taken",
    `${MAX_NAMES} names like ${JSON.stringify(wanted)} are taken; clean up.`,
    root,
  );
}

async function checkBranch(common: string, branch: string, options: GitOptions): Promise<void> {
  const { exitCode } = await callGit(common, ["check-ref-format", "--branch", branch], options);
  if (exitCode !== 0)
    throw createWorktreeError(
      "branch-invalid",
      `branch is ${JSON.stringify(branch)}; git allows no such name.`,
    );
}

/** Returns false if git does not answer in time: the result is only a hint. */
async function isDirty(folder: string, options: GitOptions): Promise<boolean> {
  const args = ["status", "--porcelain", "--untracked-files=normal"];
  const answer = await callGit(folder, args, { ...options, deadlineMs: 10_000 }).catch(() => undefined);
  return answer?.exitCode === 0 && answer.stdout !== "";
}

/** A worktree that git has added, with non-fatal warnings. */
interface AddedWorktree {
  readonly worktree: Worktree;
  readonly warnings: readonly string[];
}

/**
 * Adds a worktree at a path, with the branch of its mark. Returns undefined if the path or branch is taken; a failed
 * call undoes only its own changes.
 */
async function addWorktree(
  common: string,
  path: string,
  mark: WorktreeMark,
  options: GitOptions,
): Promise<AddedWorktree | undefined> {
  // Create the branch first, with an atomic call: the winner may also undo it.
  const ref = `refs/heads/${mark.branch}`;
  const create = ["--git-dir", common, "update-ref", "-m", "branch: Created for a task", ref, mark.base, ""];
  // Ignore the signal: an aborted call would not tell whether it won.
  const { signal: _, ...rest } = options;
  const made = await callGit(common, create, rest);
  if (made.exitCode !== 0 && (await hasBranch(common, mark.branch, options))) return undefined;
  if (made.exitCode !== 0) throw createGitError(create, made, `failed with exit code ${made.exitCode}`);
  let added: AddedWorktree | undefined;
  try {
    added = await addFolder(common, path, mark, options);
  } finally {
    if (!added) await undoAdd(common, path, mark, options);
  }
  return added;
}

async function addFolder(
  common: string,
  path: string,
  mark: WorktreeMark,
  options: GitOptions,
): Promise<AddedWorktree | undefined> {
  const args = [
    "--git-dir",
    common,
    "worktree",
    "add",
    "--lock",
    "--reason",
    buildLockReason(mark),
    "--",
    path,
    mark.branch,
  ];
  const answer = await callGit(common, args, { deadlineMs: 120_000, ...options }, undefined, () =>
    undoAddFolder(common, path, mark, options),
  );
  const worktree = await findMarked(common, path, mark);
  if (answer.exitCode === 0 && worktree) return { worktree, warnings: [] };
  // Git returns the exit code of the post-checkout hook, which runs last.
  if (worktree && (await isCheckedOut(worktree, options)))
    return { worktree, warnings: [`The post-checkout hook failed. ${answer.stderr.trim().slice(-500)}`] };
  if (/already exists|is a missing but/.test(answer.stderr)) return undefined;
  throw createGitError(args, answer, `failed with exit code ${answer.exitCode}`);
}

/** The worktree at the path, if it has this exact mark. */
async function findMarked(common: string, path: string, mark: WorktreeMark): Promise<Worktree | undefined> {
  const admin = (await readAdminFolder(path)) ?? (await findAdminFolder(common, path));
  if (!admin || (await readMark(admin))?.id !== mark.id) return undefined;
  const { task, branch, base } = mark;
  return { task, branch, base, path, repository: common, admin };
}

async function undoAddFolder(
  common: string,
  path: string,
  mark: WorktreeMark,
  options: GitOptions,
): Promise<void> {
  const worktree = await findMarked(common, path, mark);
  if (worktree) await discardWorktree(worktree, options, { keepsBranch: true });
  else await rmdir(path).catch(() => {});
}

async function undoAdd(common: string, path: string, mark: WorktreeMark, options: GitOptions): Promise<void> {
  // The signal may have caused the failure that is being undone.
  const { signal: _, ...rest } = options;
  await undoAddFolder(common, path, mark, rest);
  await deleteBranch(common, mark.branch, mark.base, rest).catch(() => {});
}

async function isCheckedOut({ admin, path, base }: Worktree, options: GitOptions): Promise<boolean> {
  const args = ["--git-dir", admin, "--work-tree", path, "diff-index", "--cached", "--quiet", base, "--"];
  return (await callGit(path, args, options)).exitCode === 0;
}

const MAX_LENGTH = 64;

/** Converts a task id to a valid file and branch name; different ids get different names. */
export function toTaskName(task: string): string {
  const plain = task
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}_.-]+/gu, "-")
    .replace(/\.{2,}|\.lock(?=$|-)/gi, "-")
    .replace(/^[.-]+|[.-]+$/g, "");
  const short = [...plain]
    .slice(0, MAX_LENGTH)
    .join("")
    .replace(/[.-]+$/, "");
  if (short === task) return short;
  const digest = computeDigest(task, 8);
  return short ? `${short}-${digest}` : digest;
}

/** The branch of a task; `isPlain` avoids the folder `longhaul/` when a branch of that name exists. */
function toBranchName(task: string, isPlain: boolean): string {
  return `longhaul${isPlain ? "-" : "/"}${toTaskName(task)}`;
}
