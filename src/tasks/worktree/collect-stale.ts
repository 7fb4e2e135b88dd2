import { readdir, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { checkFields } from "../../model/argument-checks.ts";
import { type Clock, systemClock } from "../../model/clock.ts";
import {
  checkWholeNumber,
  createArgumentError,
  isLonghaulError,
  throwIfAborted,
} from "../../model/errors.ts";
import { collectIntents } from "./branch-intent.ts";
import type { GitOptions } from "./git.ts";
import { judgeWorktree } from "./judge-worktree.ts";
import { type Removal, removeLeftover, withWorktreeLock } from "./remove-worktree.ts";
import { getDefaultRoot, inspectRepository } from "./repository.ts";
import {
  listAdminFolders,
  readAdminFolder,
  readWorktree,
  readWorktreePath,
  type Worktree,
} from "./worktree.ts";
import { isHeld, readMark, type WorktreeMark } from "./worktree-mark.ts";

/** Options of `collectStale`. */
export interface CollectStaleOptions extends GitOptions {
  /** The folder that contains the worktrees; derived from `repository` by default. */
  readonly root?: string;
  /** A repository whose worktrees are checked even if their folders are gone. */
  readonly repository?: string;
  /** Whether a task is running, queued or resumable in any process and so still needs the worktree. */
  readonly isLeased: (path: string, task: string, tag: string | undefined) => Promise<boolean>;
  /** Minimum time since the worktree was last held. */
  readonly olderThanMs: number;
  /** Removes nothing; `removed` then lists the worktrees that would be removed. */
  readonly dryRun?: boolean;
  readonly clock?: Clock;
}

/** Result of `collectStale`. */
export interface CollectStaleResult {
  readonly removed: readonly Removal[];
  /** Unused worktrees that contain work, or may. */
  readonly kept: readonly Removal[];
  /** Number of worktrees that are in use or too recent. */
  readonly spared: number;
}

/**
 * Removes abandoned worktrees without work of their own, one at a time. Never touches worktrees that
 * longhaul did not create.
 */
export async function collectStale(options: CollectStaleOptions): Promise<CollectStaleResult> {
  checkFields("options", options, {
    root: "name?",
    repository: "name?",
    isLeased: "function",
    signal: "signal?",
  });
  checkWholeNumber("olderThanMs", options.olderThanMs, 0);
  const removed: Removal[] = [];
  const kept: Removal[] = [];
  let spared = 0;
  const { worktrees, repositories } = await findWorktrees(options);
  for (const worktree of worktrees) {
    throwIfAborted(options.signal);
    const removal = await collectWorktree(worktree, options).catch((error) =>
      toFailedRemoval(worktree, error),
    );
    const isTaken = removal?.isRemoved || (options.dryRun && removal?.verdict.state === "unchanged");
    if (!removal) spared++;
    else if (isTaken) removed.push(removal);
    else kept.push(removal);
  }
  const now = (options.clock ?? systemClock).now();
  if (!options.dryRun)
    for (const repository of repositories) await collectIntents(repository, { ...options, now });
  return { removed, kept, spared };
}

/** Reports a worktree that cannot be inspected instead of failing the whole collection. */
function toFailedRemoval({ path, branch }: Worktree, error: unknown): Removal {
  if (isLonghaulError(error, "ABORTED")) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  return {
    verdict: { state: "undecidable", reason },
    isRemoved: false,
    isBranchRemoved: false,
    path,
    branch,
  };
}

/**
 * Undefined if the worktree is in use. Checks twice: cheaply first, then under the lock that a
 * resuming task also takes.
 */
async function collectWorktree(
  worktree: Worktree,
  options: CollectStaleOptions,
): Promise<Removal | undefined> {
  if (await isInUse(worktree, options)) return undefined;
  if (options.dryRun) {
    const { path, branch } = worktree;
    return {
      verdict: await judgeWorktree(worktree, options),
      isRemoved: false,
      isBranchRemoved: false,
      path,
      branch,
    };
  }
  const locked = await withWorktreeLock(
    worktree,
    async () => {
      const mark = await readMark(worktree.admin);
      if (!mark || (await isInUse(worktree, options))) return undefined;
      return removeLeftover(worktree, mark, options);
    },
    options,
  );
  return locked?.value;
}

async function isInUse({ admin, path, task }: Worktree, options: CollectStaleOptions): Promise<boolean> {
  const mark = await readMark(admin);
  const now = (options.clock ?? systemClock).now();
  if (!mark || isYoung(mark, now, options.olderThanMs)) return true;
  return (await isHeld(mark, now, options.olderThanMs)) || (await options.isLeased(path, task, mark.tag));
}

/** A heartbeat in the future means the clock was set back; it counts as recent, to be safe. */
function isYoung(mark: WorktreeMark, now: number, olderThanMs: number): boolean {
  return now - mark.heartbeatAt < olderThanMs;
}

/** Finds longhaul's worktrees below the root, and their repositories. */
async function findWorktrees(options: CollectStaleOptions) {
  const repositories = new Set<string>();
  if (options.repository) repositories.add((await inspectRepository(options.repository, options)).common);
  const [first] = repositories;
  const root = options.root ?? (first && getDefaultRoot(first));
  if (!root) throw createArgumentError("root", root, "a folder, or a repository to find it from");
  const real = await realpath(root).catch(() => resolve(root));
  for (const name of await readdir(real).catch(() => [])) {
    const admin = await readAdminFolder(join(real, name));
    if (admin) repositories.add(dirname(dirname(admin)));
  }
  const worktrees: Worktree[] = [];
  for (const repository of repositories)
    for (const admin of await listAdminFolders(repository)) {
      const path = await readWorktreePath(admin);
      const worktree = path && dirname(path) === real ? await readWorktree(admin, path) : undefined;
      if (worktree) worktrees.push(worktree);
    }
  return { worktrees, repositories };
}
