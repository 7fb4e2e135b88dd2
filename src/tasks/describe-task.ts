import type { Log } from "../log/log.ts";
import type { TaskRecord } from "../log/store/task-store.ts";
import { findEntry } from "../log/view/page.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Json } from "../model/json.ts";
import type { TaskId, TaskNotice, TaskPlan, TaskUsage } from "../model/task.ts";
import { isTaskOwnerAlive } from "./owner-lease.ts";
import type { TaskStatus } from "./start-options.ts";
import { readOutcome, readPlan, readTaskProgress, type TaskMove } from "./task-progress.ts";

const PAGE_TASKS = 100;

/** A task as lists show it. */
export interface TaskSketch {
  readonly status: TaskStatus;
  readonly plan?: TaskPlan;
  /** Whether a live process runs the task or cleans up after it. */
  readonly isOwned: boolean;
}

/** A task with its place, usage and notice. */
export interface TaskDetails extends TaskSketch {
  /** The place that the task works or worked in, if it is isolated. */
  readonly place?: Json;
  readonly spent: TaskUsage;
  readonly notice?: TaskNotice;
  /** Changes of its state, oldest first. */
  readonly moves: readonly TaskMove[];
}

/** Summarizes a task for lists with three reads, regardless of the length of its output. */
export async function sketchTask(log: Log, task: TaskRecord): Promise<TaskSketch> {
  const plan = await readPlan(log, task);
  const outcome = await readOutcome(log, task);
  const { owner } = task;
  const isOwned = owner !== undefined && (await isTaskOwnerAlive(log.store, owner, log.clock.now()));
  return { status: outcome ? { ...task, outcome } : task, ...dropUndefined({ plan }), isOwned };
}

/** Describes a task in full; reads all of its entries. */
export async function describeTask(log: Log, task: TaskRecord): Promise<TaskDetails> {
  const { place, spent, moves } = await readTaskProgress(log, task);
  const notice = await readNotice(log, task);
  return {
    ...(await sketchTask(log, task)),
    spent,
    moves,
    ...dropUndefined({ place, notice }),
  };
}

/** The notice of a task, from the parent's session or its own; undefined before it is written. */
export async function readNotice(log: Log, task: TaskRecord): Promise<TaskNotice | undefined> {
  if (task.noticeSeq === 0) return undefined;
  for (const session of [task.parentSession, task.session]) {
    if (session === undefined) continue;
    const entry = await findEntry(log.store.entries, { session, seq: task.noticeSeq });
    if (entry?.kind === "task" && entry.task === task.id && entry.note.type === "notice")
      return entry.note.notice;
  }
  return undefined;
}

/** The notices of ended tasks, those of the newest tasks first. */
export async function listNotices(
  log: Log,
  { before, limit }: { readonly before?: TaskId; readonly limit: number },
): Promise<readonly TaskNotice[]> {
  const found: TaskNotice[] = [];
  for (let last = before; ; ) {
    const page = await log.store.tasks.list({
      states: ["completed", "failed", "killed"],
      limit: PAGE_TASKS,
      ...dropUndefined({ before: last }),
    });
    for (const task of page) {
      const notice = await readNotice(log, task).catch(() => undefined);
      if (notice && found.push(notice) === limit) return found;
    }
    last = page.at(-1)?.id;
    if (page.length < PAGE_TASKS) return found;
  }
}
