import type { Json } from "../model/json.ts";
import type { TaskId, TaskNotice, TaskOutcome, TaskPlan } from "../model/task.ts";
import type { TaskRecord } from "../store/task-store.ts";

/** A task that has ended, for those who do something about it. */
export interface EndedTask {
  readonly task: TaskRecord;
  readonly outcome: TaskOutcome;
  readonly plan?: TaskPlan;
  /** What its processes are found by. */
  readonly tag: string;
  /** The process that ran it is dead, and another one cleans up. */
  readonly isOrphan?: true;
}

/** Slow work after a task has ended, as a check of what it hands over; what it finds goes into the notice. */
export interface AfterStep {
  readonly name: string;
  readonly limitMs?: number;
  run(ended: EndedTask, signal: AbortSignal): Promise<Json | undefined> | Json | undefined;
}

/** A way to keep tasks apart, as a worktree for each. */
export interface Isolation {
  readonly limitMs?: number;
  /**
   * Makes the place to work in, or finds the one that a former call has made for the task. `tag` is what processes of the
   * task are found by.
   */
  prepare(task: TaskId, plan: TaskPlan, signal: AbortSignal, tag: string): Promise<Json>;
  /** Decides what becomes of the place; what it finds goes into the notice. */
  settle(task: TaskId, place: Json, signal: AbortSignal, tag: string): Promise<Json | undefined>;
  /** Decides what becomes of a place that a process has begun to make for the task, and died before it could say so. */
  collect?(task: TaskId, plan: TaskPlan, signal: AbortSignal, tag: string): Promise<Json | undefined>;
  /** Removes places of ended tasks that hold nothing; called in the background from time to time. */
  collectStale?(stale: StalePlaces): Promise<void>;
}

/** Which places count as stale. */
export interface StalePlaces {
  /** Whether a task still needs its place: running, waiting, or to be resumed. The tag tells it from other stores' tasks. */
  readonly isNeeded: (task: TaskId, tag: string | undefined) => Promise<boolean>;
  /** How long nobody must have used a place. */
  readonly olderThanMs: number;
  readonly signal: AbortSignal;
}

/** A way out of the process for notices: at least once, the same id each time. */
export interface NoticeChannel {
  readonly name: string;
  readonly limitMs?: number;
  send(notice: TaskNotice, signal: AbortSignal): Promise<void>;
}
