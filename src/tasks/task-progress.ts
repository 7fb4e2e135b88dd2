import type { Log } from "../log/log.ts";
import type { TaskRecord } from "../log/store/task-store.ts";
import { readRange } from "../log/view/page.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Entry } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { TaskEvent, TaskMode, TaskOutcome, TaskPlan, TaskState, TaskUsage } from "../model/task.ts";
import { NO_TASK_USAGE, spendStep, spendUsage } from "./task-budget.ts";

/** A change of a task's state. */
export interface TaskMove {
  readonly at: number;
  /** Absent for the creation. */
  readonly event?: TaskEvent;
  readonly from?: TaskState;
  readonly to: TaskState;
  /** The mode from then on, if it changed. */
  readonly mode?: TaskMode;
  readonly reason?: string;
}

/** The state of a task as read from its entries. */
export interface TaskProgress {
  readonly plan?: TaskPlan;
  readonly checkpoint?: Json;
  /** The last result that the agent reported. */
  readonly result?: Json;
  readonly place?: Json;
  /** Whether its agent was ever called. */
  readonly hasRun?: true;
  readonly spent: TaskUsage;
  /** Changes of its state, oldest first. */
  readonly moves: readonly TaskMove[];
}

const PAGE_SIZE = 500;

/** The state of a task without entries. */
export const EMPTY_PROGRESS: TaskProgress = { spent: NO_TASK_USAGE, moves: [] };

/** Applies one entry of the task's session to its state. */
function applyEntry(memory: TaskProgress, entry: Entry, id: string): TaskProgress {
  if (entry.kind === "usage")
    return entry.meta?.task === id ? { ...memory, spent: spendUsage(memory.spent, entry.usage) } : memory;
  if (entry.kind !== "task" || entry.task !== id) return memory;
  const { note } = entry;
  switch (note.type) {
    case "created":
      return { ...memory, plan: note.plan, moves: [{ at: entry.at, to: "queued", mode: note.plan.mode }] };
    case "moved": {
      const { event, from, to, mode, outcome } = note;
      const move: TaskMove = {
        at: entry.at,
        ...{ event, from, to },
        ...dropUndefined({ mode, reason: outcome?.reason }),
      };
      const moves = [...memory.moves, move];
      return { ...memory, moves, ...(to === "running" && { hasRun: true }) };
    }
    case "isolated":
      return { ...memory, place: note.place };
    case "checkpoint":
      return { ...memory, checkpoint: note.value };
    case "result":
      return { ...memory, result: note.value };
    case "step":
      return { ...memory, spent: spendStep(memory.spent) };
    default:
      return memory;
  }
}

/** Reads the state of a task from all its entries. */
export async function readTaskProgress(log: Log, task: TaskRecord): Promise<TaskProgress> {
  let memory = EMPTY_PROGRESS;
  for (let from = task.firstSeq; ; ) {
    const page = await readRange(log.store.entries, task.session, {
      from,
      limit: PAGE_SIZE,
      kinds: ["task", "usage"],
    });
    for (const entry of page) memory = applyEntry(memory, entry, task.id);
    const last = page.at(-1);
    if (page.length < PAGE_SIZE || !last) return memory;
    from = last.seq + 1;
  }
}

export async function readPlan(log: Log, task: TaskRecord): Promise<TaskPlan | undefined> {
  const [entry] = await readRange(log.store.entries, task.session, { from: task.firstSeq, limit: 1 });
  return entry?.kind === "task" && entry.note.type === "created" ? entry.note.plan : undefined;
}

/** The outcome of a task; undefined if it has not ended or its session is gone. */
export async function readOutcome(log: Log, task: TaskRecord): Promise<TaskOutcome | undefined> {
  if (task.lastSeq === 0) return undefined;
  try {
    const [entry] = await readRange(log.store.entries, task.session, { from: task.lastSeq, limit: 1 });
    return entry?.kind === "task" && entry.note.type === "moved" ? entry.note.outcome : undefined;
  } catch (error) {
    if (isLonghaulError(error, "SESSION_NOT_FOUND")) return undefined;
    throw error;
  }
}
