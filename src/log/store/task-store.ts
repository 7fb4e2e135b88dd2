import type { SessionId } from "../../model/entry.ts";
import type { TaskId, TaskMode, TaskState } from "../../model/task.ts";

/** Progress of an ended task's notice: due, written to the log ("told"), or delivered to all channels ("done"). */
export type NoticeState = "due" | "told" | "done";

/** A request to a task's owner. */
export type TaskRequest = "detach" | "kill";

/** State of a task: an index over its entries, which hold the rest. */
export interface TaskRecord {
  readonly id: TaskId;
  /** The session that the task works in and that contains its entries. */
  readonly session: SessionId;
  readonly parent?: TaskId;
  /** The session that gets the notice. */
  readonly parentSession?: SessionId;
  readonly agent: string;
  /** The queue in which the task waits for a worker; only workers begin such a task. */
  readonly queue?: string;
  /** The person on whose behalf a task of a queue runs; limits count by it. */
  readonly person?: string;
  readonly state: TaskState;
  readonly mode: TaskMode;
  /** The owning process; see model/base/owner.ts. Undefined while the task waits for a process that can run it. */
  readonly owner?: string;
  /** Grows whenever the right to write changes hands; writes with an older epoch are refused. */
  readonly epoch: number;
  readonly canResume: boolean;
  /** Number of takeovers from dead owners. */
  readonly resumes: number;
  readonly wish?: TaskRequest;
  readonly wishReason?: string;
  readonly notice?: NoticeState;
  /** Number of delivery attempts of the notice. */
  readonly attempts: number;
  readonly createdAt: number;
  readonly settledAt?: number;
  readonly deadlineAt?: number;
  /** Seq of its first entry. */
  readonly firstSeq: number;
  /** Seq of the entry that ended the task; 0 before. */
  readonly lastSeq: number;
  /** Seq of its notice, in the parent's session or its own; 0 before. */
  readonly noticeSeq: number;
}

/** A task to create with the entries of an append. */
export type NewTask = Omit<
  TaskRecord,
  "session" | "firstSeq" | "lastSeq" | "noticeSeq" | "wish" | "wishReason" | "notice"
>;

/** Fields that may be changed; `undefined` removes a field. */
export interface TaskFields {
  readonly state?: TaskState;
  readonly mode?: TaskMode;
  readonly owner?: string | undefined;
  readonly epoch?: number;
  readonly canResume?: boolean;
  readonly resumes?: number;
  readonly wish?: undefined;
  readonly notice?: NoticeState;
  readonly attempts?: number;
  readonly settledAt?: number;
}

/** A change that fails with TASK_CONFLICT unless the task is as expected. */
export interface TaskChange {
  readonly id: TaskId;
  readonly expect: {
    readonly epoch: number;
    readonly state?: TaskState;
    readonly notice?: NoticeState;
  };
  readonly set?: TaskFields;
  /** Marks the first entry of the append as the task's last, or as its notice. */
  readonly marks?: "last" | "notice";
}

/** A task to create; TASK_CONFLICT if the id is taken or the parent has another epoch. */
interface TaskCreation {
  readonly create: NewTask;
  readonly parentEpoch?: number;
}

/** Effect of an append on a task: creates it, changes it, or only checks that the writer still owns it. */
export type TaskWrite = TaskCreation | TaskChange;

/** Selects the tasks to list, newest first. */
export interface TaskQuery {
  readonly limit: number;
  readonly before?: TaskId;
  readonly session?: SessionId;
  readonly parent?: TaskId;
  readonly states?: readonly TaskState[];
  /** Only tasks of this queue. */
  readonly queue?: string;
  /** Only tasks of queues that run on behalf of this person. */
  readonly person?: string;
}

/** The tasks of a store; created and changed together with entries by `entries.append`. */
export interface TaskStore {
  get(id: TaskId): Promise<TaskRecord | undefined>;
  list(query: TaskQuery): Promise<readonly TaskRecord[]>;
  /**
   * Owners of tasks that have not ended or whose notice is undelivered; undefined stands for tasks without an owner.
   */
  owners(): Promise<readonly (string | undefined)[]>;
  /** The tasks of an owner that have not ended or whose notice is undelivered, oldest first. */
  openOf(
    owner: string | undefined,
    query: { readonly limit: number; readonly after?: TaskId },
  ): Promise<readonly TaskRecord[]>;
  /** The tasks of an owner that have a request from another process. */
  listRequested(owner: string): Promise<readonly TaskRecord[]>;
  /**
   * Sends a request to a task's owner; a detach never replaces a kill. Returns the current task;
   * ended tasks ignore requests.
   */
  request(id: TaskId, wish: TaskRequest, reason?: string): Promise<TaskRecord | undefined>;
  /** Changes a task without an entry. */
  change(change: TaskChange): Promise<TaskRecord>;
}
