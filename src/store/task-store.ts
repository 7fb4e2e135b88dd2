import type { SessionId } from "../model/entry.ts";
import type { TaskId, TaskMode, TaskState } from "../model/task.ts";

/** How far the notice of an ended task has come: owed, in the log, or delivered everywhere. */
export type NoticeState = "due" | "told" | "done";

/** What someone who does not own a task wants of it. */
export type TaskWish = "detach" | "kill";

/** Where a task stands: an index over its entries, which say the rest. */
export interface TaskRecord {
  readonly id: TaskId;
  /** The session that it works in and whose log has its entries. */
  readonly session: SessionId;
  readonly parent?: TaskId;
  /** The session that gets the notice. */
  readonly parentSession?: SessionId;
  readonly agent: string;
  readonly state: TaskState;
  readonly mode: TaskMode;
  /** Who runs it; see log/owner.ts. Nobody while it waits for someone who can. */
  readonly owner?: string;
  /** Grows whenever someone else may write from now on; who names an older one is refused. */
  readonly epoch: number;
  readonly canResume: boolean;
  /** How often it was taken over from a dead owner. */
  readonly resumes: number;
  readonly wish?: TaskWish;
  readonly wishReason?: string;
  readonly notice?: NoticeState;
  /** How often delivering the notice outside was tried. */
  readonly attempts: number;
  readonly createdAt: number;
  readonly settledAt?: number;
  readonly deadlineAt?: number;
  /** Seq of its first entry. */
  readonly firstSeq: number;
  /** Seq of the entry that ended it; 0 before. */
  readonly lastSeq: number;
  /** Seq of its notice, in the parent's session or its own; 0 before. */
  readonly noticeSeq: number;
}

/** A task to be made with the entries of an append. */
export type NewTask = Omit<
  TaskRecord,
  "session" | "firstSeq" | "lastSeq" | "noticeSeq" | "wish" | "wishReason" | "notice"
>;

/** What may be changed; `undefined` takes a field away. */
export interface TaskFields {
  readonly state?: TaskState;
  readonly mode?: TaskMode;
  readonly owner?: string | undefined;
  readonly epoch?: number;
  readonly resumes?: number;
  readonly wish?: undefined;
  readonly notice?: NoticeState;
  readonly attempts?: number;
  readonly settledAt?: number;
}

/** A change that is refused with TASK_CONFLICT unless the task is as expected. */
export interface TaskChange {
  readonly id: TaskId;
  readonly expect: {
    readonly epoch: number;
    readonly state?: TaskState;
    readonly notice?: NoticeState;
  };
  readonly set?: TaskFields;
  /** What the first entry of the append is: the task's last, or its notice. */
  readonly marks?: "last" | "notice";
}

/** A task to be made; TASK_CONFLICT if its id is taken or its parent is not of the expected epoch. */
export interface TaskCreation {
  readonly create: NewTask;
  readonly parentEpoch?: number;
}

/** What an append does to a task: makes it, or changes it, or only makes sure that its writer still may. */
export type TaskWrite = TaskCreation | TaskChange;

/** Which tasks to list, newest first. */
export interface TaskQuery {
  readonly limit: number;
  readonly before?: TaskId;
  readonly session?: SessionId;
  readonly parent?: TaskId;
  readonly states?: readonly TaskState[];
}

/** The tasks of a store; they are made and changed together with entries, by `entries.append`. */
export interface TaskStore {
  get(id: TaskId): Promise<TaskRecord | undefined>;
  list(query: TaskQuery): Promise<readonly TaskRecord[]>;
  /** Who owns tasks that have not ended, or whose notice is not delivered; undefined stands for nobody. */
  owners(): Promise<readonly (string | undefined)[]>;
  /** The tasks of an owner that have not ended or whose notice is not delivered, oldest first. */
  openOf(
    owner: string | undefined,
    query: { readonly limit: number; readonly after?: TaskId },
  ): Promise<readonly TaskRecord[]>;
  /** The tasks of an owner that someone else wants something of. */
  wishedOf(owner: string): Promise<readonly TaskRecord[]>;
  /**
   * Asks whoever owns a task for something; a kill is never taken back by a detach. Returns the task as it is then;
   * nothing is asked of one that has ended.
   */
  wish(id: TaskId, wish: TaskWish, reason?: string): Promise<TaskRecord | undefined>;
  /** Changes a task without an entry. */
  change(change: TaskChange): Promise<TaskRecord>;
}
