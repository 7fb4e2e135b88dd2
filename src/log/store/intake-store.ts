import type { SessionId } from "../../model/entry.ts";

/** A foreign source that feeds a session. */
export interface IntakeState {
  readonly session: SessionId;
  /** Grows with every import. */
  readonly stamp: number;
  /** Position to resume reading from; opaque to the store, like `progress`. */
  readonly checkpoint?: string;
  /** The importer's own state. Keep it small: every append writes it. */
  readonly progress?: string;
}

/** An imported record. */
export interface TakenRecord {
  readonly seq: number;
  readonly version?: string;
}

/** The record that an appended entry was created from. */
export interface NewRecord {
  readonly id: string;
  readonly version?: string;
  /** True if an earlier version of the record was imported; the record then points to this entry. */
  readonly replaces?: boolean;
}

/** The source part of an append. */
export interface IntakeAppend {
  readonly name: string;
  /** Fails with INTAKE_CONFLICT unless this is the intake's stamp, which then grows by one. */
  readonly stamp: number;
  /** One per entry; undefined for an entry without a record. */
  readonly records: readonly (NewRecord | undefined)[];
  /** Unchanged if omitted. */
  readonly checkpoint?: string;
  readonly progress?: string;
}

/** The foreign sources of all sessions, and their imported records. */
export interface IntakeStore {
  /**
   * Returns the intake, creating it for `session` if needed. Throws SESSION_NOT_FOUND if the session does not exist.
   */
  open(name: string, session: SessionId): Promise<IntakeState>;
  get(name: string): Promise<IntakeState | undefined>;
  /** The given records that have been imported. */
  find(name: string, records: readonly string[]): Promise<ReadonlyMap<string, TakenRecord>>;
  /**
   * Stores checkpoint and progress without an append; throws INTAKE_CONFLICT as an append does. Returns the new stamp.
   */
  save(name: string, stamp: number, saved: Pick<IntakeState, "checkpoint" | "progress">): Promise<number>;
}
