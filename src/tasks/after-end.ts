import type { TaskRecord } from "../log/store/task-store.ts";
import type { Json } from "../model/json.ts";
import type { TaskId, TaskNotice, TaskOutcome, TaskPlan } from "../model/task.ts";

/** An ended task as isolations and after-steps see it. */
export interface EndedTask {
  readonly task: TaskRecord;
  readonly outcome: TaskOutcome;
  readonly plan?: TaskPlan;
  /** Tag carried by the task's processes. */
  readonly tag: string;
  /** True when the owning process died and another process cleans up. */
  readonly isOrphan?: true;
}

/** Slow work after a task has ended, such as checking its result; the returned value goes into the notice. */
export interface AfterStep {
  readonly name: string;
  readonly limitMs?: number;
  run(ended: EndedTask, signal: AbortSignal): Promise<Json | undefined> | Json | undefined;
}

/** A way to keep tasks apart, such as one worktree per task. */
export interface Isolation {
  readonly limitMs?: number;
  /**
   * Creates the place to work in, or finds the one that an earlier call created for the task. Processes
   * of the task carry `tag`.
   */
  prepare(task: TaskId, plan: TaskPlan, signal: AbortSignal, tag: string): Promise<Json>;
  /** Keeps or removes the place; the returned value goes into the notice. */
  settle(task: TaskId, place: Json, signal: AbortSignal, tag: string): Promise<Json | undefined>;
  /** Keeps or removes a place whose creator died before recording it. */
  collect?(task: TaskId, plan: TaskPlan, signal: AbortSignal, tag: string): Promise<Json | undefined>;
  /** Removes empty places of ended tasks; called periodically in the background. */
  collectStale?(stale: StalePlaces): Promise<void>;
}

/** Selects the places that count as stale. */
export interface StalePlaces {
  /** Whether a task is running, waiting or resumable and so still needs its place. The tag tells stores apart. */
  readonly isNeeded: (task: TaskId, tag: string | undefined) => Promise<boolean>;
  /** Minimum time since a place was last used. */
  readonly olderThanMs: number;
  readonly signal: AbortSignal;
}

/** Delivers notices outside the process: at least once, with the same id each time. */
export interface NoticeChannel {
  readonly name: string;
  readonly limitMs?: number;
  send(notice: TaskNotice, signal: AbortSignal): Promise<void>;
}
