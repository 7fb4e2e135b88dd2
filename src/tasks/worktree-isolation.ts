import { existsSync } from "node:fs";
import { checkFields } from "../model/argument-checks.ts";
import { BoundedMap } from "../model/base/caches.ts";
import { systemClock } from "../model/clock.ts";
import { createArgumentError, isLonghaulError, throwIfAborted } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Closable } from "../model/lifetime.ts";
import type { TaskId, TaskPlan } from "../model/task.ts";
import type { Isolation, StalePlaces } from "./after-end.ts";
import { reapTagged } from "./process/tagged.ts";
import { collectIntents } from "./worktree/branch-intent.ts";
import { collectStale } from "./worktree/collect-stale.ts";
import { type CreateWorktreeOptions, createWorktree, resolveFolder } from "./worktree/create-worktree.ts";
import type { GitOptions } from "./worktree/git.ts";
import { holdWorktree } from "./worktree/hold-worktree.ts";
import {
  type Removal,
  removeBranchOnly,
  removeIfUnchanged,
  removeLeftover,
  withWorktreeLock,
} from "./worktree/remove-worktree.ts";
import { inspectRepository } from "./worktree/repository.ts";
import { listAdminFolders, readWorktree, readWorktreePath, type Worktree } from "./worktree/worktree.ts";
import { isHeld, readMark, type WorktreeMark } from "./worktree/worktree-mark.ts";

/** Options of `worktreeIsolation`. */
interface WorktreeIsolationOptions
  extends Pick<CreateWorktreeOptions, "program" | "root" | "submodules" | "clock" | "cleanups" | "census"> {
  /** The repository, either fixed or derived from a task's plan. */
  readonly repository: string | ((plan: TaskPlan) => string);
  readonly base?: string;
  /** Repositories to collect stale worktrees in before any task has named one. */
  readonly collects?: readonly string[];
  /** Time limit for creating a worktree and for settling it (2 min). */
  readonly limitMs?: number;
}

/** The place of a task: the worktree and the folder in it to work in. */
export interface WorktreePlace extends Worktree {
  readonly folder: string;
  readonly isParentDirty?: boolean;
  readonly warnings?: readonly string[];
}

/** Limit of repositories whose stale worktrees one process collects. */
const MAX_REPOSITORIES = 100;

/**
 * Gives each task its own worktree, which is reused when the task resumes and removed at the
 * end if it contains no work.
 */
export function worktreeIsolation(options: WorktreeIsolationOptions): Isolation {
  checkFields("options", options);
  if (typeof options.repository !== "string" && typeof options.repository !== "function")
    throw createArgumentError("repository", options.repository, "a folder, or a function of a task's plan");
  const { repository, limitMs = 120_000, collects = [], ...rest } = options;
  const repositoryOf = (plan: TaskPlan) => (typeof repository === "string" ? repository : repository(plan));
  const holds = new Map<TaskId, Closable>();
  /** The most recently used repositories of this process's tasks. */
  const repositories = new BoundedMap<string, true>({ max: MAX_REPOSITORIES });
  for (const own of typeof repository === "string" ? [repository] : collects) repositories.set(own, true);
  const hold = async (task: TaskId, worktree: Worktree, git: GitOptions) => {
    const kept = await holdWorktree(worktree, git);
    await holds.get(task)?.close();
    holds.set(task, kept);
  };
  return {
    limitMs,
    async prepare(task, plan, signal, tag) {
      const from = repositoryOf(plan);
      repositories.set(from, true);
      const git = { ...rest, signal, tag };
      const { common, prefix } = await inspectRepository(from, git);
      const former = await findEarlierWorktree(common, task, tag);
      if (former) {
        await hold(task, former, git);
        return toPlaceJson({ ...former, folder: resolveFolder(former, prefix) });
      }
      await removeAbandoned(common, task, git);
      const { worktree, ...more } = await createWorktree({ ...git, repository: from, task });
      try {
        await hold(task, worktree, git);
        // The caller has stopped waiting, so the worktree would never be recorded.
        throwIfAborted(signal);
      } catch (error) {
        await holds.get(task)?.close();
        holds.delete(task);
        await removeIfUnchanged(worktree, rest);
        throw error;
      }
      return toPlaceJson({ ...worktree, ...more });
    },
    async settle(task, place, signal, tag) {
      const worktree = parsePlace(place);
      await holds.get(task)?.close();
      holds.delete(task);
      // Remaining processes could still write to the worktree.
      await reapTagged(tag);
      if (!existsSync(worktree.admin) && !existsSync(worktree.path))
        return toFacts(await removeBranchOnly(worktree, { ...rest, signal }));
      return toFacts(await removeIfUnchanged(worktree, { ...rest, signal }));
    },
    async collect(task, plan, signal, tag) {
      await reapTagged(tag);
      const git = { ...rest, signal, tag };
      const { common } = await inspectRepository(repositoryOf(plan), git);
      const removal = await removeAbandoned(common, task, git);
      return removal && toFacts(removal);
    },
    async collectStale(stale) {
      for (const from of [...repositories.keys()]) await collectStaleIn(from, rest, stale);
    },
  };
}

/** Collects nothing if there is no repository or no git. */
async function collectStaleIn(repository: string, git: GitOptions, stale: StalePlaces): Promise<void> {
  const { isNeeded, ...options } = stale;
  const isLeased = (_: string, task: string, tag: string | undefined) => isNeeded(task, tag);
  await collectStale({ ...git, ...options, repository, isLeased }).catch((error) => {
    if (!isLonghaulError(error, "WORKTREE_REFUSED") && !isLonghaulError(error, "PROGRAM_NOT_STARTED"))
      throw error;
  });
}

/** The worktree that any process created earlier for the task. */
async function findEarlierWorktree(common: string, task: TaskId, tag: string): Promise<Worktree | undefined> {
  for (const admin of await listAdminFolders(common)) {
    const mark = await readMark(admin);
    const isUsable = isCreatedFor(mark, task, tag) && mark.isComplete && !mark.isRemoving;
    const path = isUsable ? await readWorktreePath(admin) : undefined;
    if (path && existsSync(path)) return readWorktree(admin, path);
  }
  return undefined;
}

function toPlaceJson(place: WorktreePlace): Json {
  return { ...place };
}

function parsePlace(place: Json): Worktree {
  const { task, path, branch, base, repository, admin } = place as { readonly [key: string]: Json };
  const parts = { task, path, branch, base, repository, admin };
  for (const [name, part] of Object.entries(parts))
    if (typeof part !== "string")
      throw createArgumentError(`place.${name}`, part, "a text, as prepare returned it");
  return parts as { readonly [name in keyof Worktree]: string };
}

/** The facts for the notice: the verdict, and the location of any work. */
function toFacts({ verdict, isRemoved, isBranchRemoved, path, branch }: Removal): Json {
  if (isRemoved) return { ...verdict, isRemoved, ...(isBranchRemoved ? {} : { branch }) };
  return { ...verdict, isRemoved, path, branch };
}

/** How long a heartbeat of another machine counts as alive. */
const REMOTE_HEARTBEAT_MS = 60 * 60 * 1_000;

/** Whether a worktree was created for a task; the tag tells equal ids of different stores apart. */
function isCreatedFor(
  mark: WorktreeMark | undefined,
  task: TaskId,
  tag: string | undefined,
): mark is WorktreeMark {
  return mark?.task === task && (mark.tag === undefined || mark.tag === tag);
}

/**
 * Removes worktrees that dead processes created for a task without recording them, unless they contain work.
 * Undefined if there are none.
 */
async function removeAbandoned(
  repository: string,
  task: TaskId,
  options: GitOptions,
): Promise<Removal | undefined> {
  let last: Removal | undefined;
  const now = systemClock.now();
  for (const admin of await listAdminFolders(repository)) {
    const mark = await readMark(admin);
    if (!isCreatedFor(mark, task, options.tag) || (await isHeld(mark, now, REMOTE_HEARTBEAT_MS))) continue;
    const worktree = await readWorktree(admin, (await readWorktreePath(admin)) ?? "");
    if (!worktree) continue;
    const removed = await withWorktreeLock(worktree, () => removeLeftover(worktree, mark, options), options);
    last = removed?.value ?? last;
  }
  await collectIntents(repository, { ...options, now, olderThanMs: REMOTE_HEARTBEAT_MS });
  return last;
}
