import type { TaskRecord } from "../log/store/task-store.ts";
import type { SessionId } from "../model/entry.ts";
import type { LoopGuard, TaskBudget, TaskId, TaskMode, TaskOutcome } from "../model/task.ts";
import type { OutputOptions, TaskEntry } from "./task-output.ts";

/** Options for starting a task; all have defaults. */
export interface StartOptions {
  readonly id?: TaskId;
  /** "background" by default; `signal` does not stop a background task. */
  readonly mode?: TaskMode;
  readonly title?: string;
  /** The session to work in, created if it does not exist; a new session named after the task by default. */
  readonly session?: SessionId;
  /** The session that gets the notice; a new session becomes its child. */
  readonly parentSession?: SessionId;
  /** "worktree" or the name of a configured isolation; "none" by default. */
  readonly isolation?: string;
  /** Any folder of the repository to create the worktree from; the supervisor's repository by default. */
  readonly repository?: string;
  /** Maximum time from start to end, including crashes. */
  readonly deadlineMs?: number;
  readonly budget?: TaskBudget;
  readonly loopGuard?: LoopGuard;
  /** Lets the task wait in this queue for a worker (`tasks.work`), on this machine or another. */
  readonly queue?: string;
  /** On whose behalf a task of a queue runs, for limits; that of its parent, or "local", by default. */
  readonly person?: string;
  /** Kills a foreground task; ignored once the task has moved to the background. */
  readonly signal?: AbortSignal;
}

/** A task record, with its outcome once it has ended. */
export type TaskStatus = TaskRecord & { readonly outcome?: TaskOutcome };

/** Limits of a wait. */
export interface WaitOptions {
  /** Returns the task's current status when the time is over. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A task, whichever process runs it. */
export interface TaskHandle {
  readonly id: TaskId;
  readonly session: SessionId;
  /** Resolves when the task has ended. */
  wait(options?: WaitOptions): Promise<TaskStatus>;
  /** Moves a running task to the background. */
  detach(): Promise<TaskStatus>;
  kill(reason?: string): Promise<TaskStatus>;
  status(): Promise<TaskStatus>;
  output(options?: OutputOptions): AsyncGenerator<TaskEntry>;
}
