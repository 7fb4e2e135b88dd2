import type { SessionId } from "../model/entry.ts";
import type { TaskRecord } from "./task-store.ts";

/** A foreign source as it is moved to another store. */
export interface MovedIntake {
  readonly name: string;
  readonly session: SessionId;
  readonly stamp: number;
  readonly checkpoint?: string;
  readonly progress?: string;
}

/** An imported record as it is moved to another store. */
export interface MovedRecord {
  readonly id: string;
  readonly seq: number;
  readonly version?: string;
}

/** The parts of a store that appends create and that a move to another store copies as they are. */
export interface TransferStore {
  /** All foreign sources by name; `after` is the last name of the previous page. */
  intakes(query: { readonly after?: string; readonly limit: number }): Promise<readonly MovedIntake[]>;
  /** The imported records of a source by id. */
  records(
    name: string,
    query: { readonly after?: string; readonly limit: number },
  ): Promise<readonly MovedRecord[]>;
  /** Adds or replaces records of a source, which is created for its session with stamp 0 if needed. */
  putRecords(intake: MovedIntake, records: readonly MovedRecord[]): Promise<void>;
  /** Sets stamp, checkpoint and progress of a source. */
  putIntake(intake: MovedIntake): Promise<void>;
  /** Adds or replaces a task; throws SESSION_NOT_FOUND if its session does not exist. */
  putTask(task: TaskRecord): Promise<void>;
}
