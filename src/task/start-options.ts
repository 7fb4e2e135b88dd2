import type { SessionId } from "../model/entry.ts";
import type { LoopGuard, TaskBudget, TaskId, TaskMode, TaskOutcome } from "../model/task.ts";
import type { TaskRecord } from "../store/task-store.ts";
import type { OutputOptions, TaskEntry } from "./output.ts";

/** How a task is started; everything has a default. */
export interface StartOptions {
  readonly id?: TaskId;
  /** "background" by default: nobody's signal stops it. */
  readonly mode?: TaskMode;
  readonly title?: string;
  /** The session to work in, made if there is none; by default a new one named like the task. */
  readonly session?: SessionId;
  /** The session that gets the notice, and whose child a new session becomes. */
  readonly parentSession?: SessionId;
  /** "worktree", or a name of the supervisor's isolations; "none" by default. */
  readonly isolation?: string;
  /** The repository that the worktree is made of; any folder in it. By default that of the supervisor's options. */
  readonly repository?: string;
  /** Most time it may take, from start to end, crashes included. */
  readonly deadlineMs?: number;
  readonly budget?: TaskBudget;
  readonly loopGuard?: LoopGuard;
  /** Kills a foreground task; one that has moved to the background is deaf to it. */
  readonly signal?: AbortSignal;
}

/** Where a task stands, and how it ended if it has. */
export type TaskStatus = TaskRecord & { readonly outcome?: TaskOutcome };

/** Bounds of a wait. */
export interface WaitOptions {
  /** Returns the task as it is then. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One task, by whatever process it is run. */
export interface TaskHandle {
  readonly id: TaskId;
  readonly session: SessionId;
  /** Resolves when the task has ended. */
  wait(options?: WaitOptions): Promise<TaskStatus>;
  /** Moves it to the background while it runs. */
  detach(): Promise<TaskStatus>;
  kill(reason?: string): Promise<TaskStatus>;
  status(): Promise<TaskStatus>;
  output(options?: OutputOptions): AsyncGenerator<TaskEntry>;
}
