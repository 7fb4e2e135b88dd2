import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { checkFields } from "../model/argument-checks.ts";
import { type Clock, systemClock } from "../model/clock.ts";
import { type AddedWorktree, addWorktree } from "./add-worktree.ts";
import { withIntent } from "./branch-intent.ts";
import { callGit, type GitOptions, runGit } from "./git.ts";
import { discardWorktree } from "./remove-worktree.ts";
import { findBase, findNewestStash, getDefaultRoot, hasBranch, inspectRepository } from "./repository.ts";
import { toBranchName, toTaskName } from "./task-names.ts";
import { createWorktreeError, type Worktree } from "./worktree.ts";
import { getCurrentHolder, type WorktreeMark, writeMark } from "./worktree-mark.ts";

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
    ...(options.tag !== undefined && { tag: options.tag }),
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
