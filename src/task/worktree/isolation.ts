import { existsSync } from "node:fs";
import { checkFields } from "../../model/arguments.ts";
import { BoundedCache } from "../../model/bounded-cache.ts";
import { invalidArgument, isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import type { Closable } from "../../model/scope.ts";
import type { TaskId, TaskPlan } from "../../model/task.ts";
import type { Isolation, StalePlaces } from "../after-end.ts";
import { reapTagged } from "../process/tagged.ts";
import { isMadeFor, removeAbandoned } from "./abandoned.ts";
import { type CreateWorktreeOptions, createWorktree, folderIn } from "./create.ts";
import type { GitOptions } from "./git.ts";
import { holdWorktree } from "./hold.ts";
import { readMark } from "./mark.ts";
import { type Removal, removeBranchOnly, removeIfUnchanged } from "./remove.ts";
import { lookAtRepository } from "./repository.ts";
import { collectStale } from "./stale.ts";
import { adminsOf, pathOf, type Worktree, worktreeOf } from "./worktree.ts";

/** How worktrees are made for tasks. */
export interface WorktreeIsolationOptions
  extends Pick<CreateWorktreeOptions, "program" | "root" | "submodules" | "clock" | "cleanups" | "census"> {
  /** The repository, the same for all tasks or as a task's plan says. */
  readonly repository: string | ((plan: TaskPlan) => string);
  readonly base?: string;
  /** Where stale worktrees are collected before any task has named a repository. */
  readonly collects?: readonly string[];
  /** How long making one, and deciding on it, may take (2 min). */
  readonly limitMs?: number;
}

/** What a task finds as its place: the worktree, the folder in it where it belongs, and what is worth knowing. */
export interface WorktreePlace extends Worktree {
  readonly folder: string;
  readonly isParentDirty?: boolean;
  readonly warnings?: readonly string[];
}

/** Repositories whose stale worktrees one process collects. */
const MAX_REPOSITORIES = 100;

/** Gives each task a worktree of its own, found again when it is resumed, and removed at the end if it holds nothing. */
export function worktreeIsolation(options: WorktreeIsolationOptions): Isolation {
  checkFields("options", options);
  if (typeof options.repository !== "string" && typeof options.repository !== "function")
    throw invalidArgument("repository", options.repository, "a folder, or a function of a task's plan");
  const { repository, limitMs = 120_000, collects = [], ...rest } = options;
  const repositoryOf = (plan: TaskPlan) => (typeof repository === "string" ? repository : repository(plan));
  const holds = new Map<TaskId, Closable>();
  /** Repositories of this process's tasks, the last ones used. */
  const repositories = new BoundedCache<string, true>({ maxWeight: MAX_REPOSITORIES });
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
      const { common, prefix } = await lookAtRepository(from, git);
      const former = await findFormer(common, task, tag);
      if (former) {
        await hold(task, former, git);
        return placeOf({ ...former, folder: folderIn(former, prefix) });
      }
      await removeAbandoned(common, task, git);
      const { worktree, ...more } = await createWorktree({ ...git, repository: from, task });
      try {
        await hold(task, worktree, git);
        // Whoever asked has stopped waiting: nobody would know of it.
        throwIfAborted(signal);
      } catch (error) {
        await holds.get(task)?.close();
        holds.delete(task);
        await removeIfUnchanged(worktree, rest);
        throw error;
      }
      return placeOf({ ...worktree, ...more });
    },
    async settle(task, place, signal, tag) {
      const worktree = worktreeIn(place);
      await holds.get(task)?.close();
      holds.delete(task);
      // What still runs there could still write there.
      await reapTagged(tag);
      if (!existsSync(worktree.admin) && !existsSync(worktree.path))
        return factsOf(await removeBranchOnly(worktree, { ...rest, signal }));
      return factsOf(await removeIfUnchanged(worktree, { ...rest, signal }));
    },
    async collect(task, plan, signal, tag) {
      await reapTagged(tag);
      const git = { ...rest, signal, tag };
      const { common } = await lookAtRepository(repositoryOf(plan), git);
      const removal = await removeAbandoned(common, task, git);
      return removal && factsOf(removal);
    },
    async collectStale(stale) {
      for (const from of repositories.keys()) await collectStaleOf(from, rest, stale);
    },
  };
}

/** Without a repository, or without git, there is nothing to collect. */
async function collectStaleOf(repository: string, git: GitOptions, stale: StalePlaces): Promise<void> {
  const { isNeeded, ...options } = stale;
  const isLeased = (_: string, task: string, tag: string | undefined) => isNeeded(task, tag);
  await collectStale({ ...git, ...options, repository, isLeased }).catch((error) => {
    if (!isLonghaulError(error, "WORKTREE_REFUSED") && !isLonghaulError(error, "PROGRAM_NOT_STARTED"))
      throw error;
  });
}

/** The worktree that was made for the task before, by whatever process. */
async function findFormer(common: string, task: TaskId, tag: string): Promise<Worktree | undefined> {
  for (const admin of await adminsOf(common)) {
    const mark = await readMark(admin);
    const isUsable = isMadeFor(mark, task, tag) && mark.isComplete && !mark.isRemoving;
    const path = isUsable ? await pathOf(admin) : undefined;
    if (path && existsSync(path)) return worktreeOf(admin, path);
  }
  return undefined;
}

function placeOf(place: WorktreePlace): Json {
  return { ...place };
}

function worktreeIn(place: Json): Worktree {
  const { task, path, branch, base, repository, admin } = place as { readonly [key: string]: Json };
  const parts = { task, path, branch, base, repository, admin };
  for (const [name, part] of Object.entries(parts))
    if (typeof part !== "string")
      throw invalidArgument(`place.${name}`, part, "a text, as prepare returned it");
  return parts as { readonly [name in keyof Worktree]: string };
}

/** What the notice says: where the work is, if there is any. */
function factsOf({ verdict, isRemoved, isBranchRemoved, path, branch }: Removal): Json {
  if (isRemoved) return { ...verdict, isRemoved, ...(isBranchRemoved ? {} : { branch }) };
  return { ...verdict, isRemoved, path, branch };
}
