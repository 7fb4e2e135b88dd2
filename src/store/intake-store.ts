import type { SessionId } from "../model/entry.ts";

/** A foreign source that feeds a session. */
export interface IntakeState {
  readonly session: SessionId;
  /** Changes with everything that is taken in. */
  readonly stamp: number;
  /** Where reading can go on; opaque to the store, as is `progress`. */
  readonly checkpoint?: string;
  /** What the importer has to know of what was taken in. Small: it is written with every append. */
  readonly progress?: string;
}

/** A record that was taken in. */
export interface TakenRecord {
  readonly seq: number;
  readonly version?: string;
}

/** The record that an appended entry was made of. */
export interface NewRecord {
  readonly id: string;
  readonly version?: string;
  /** Its earlier version was taken in before: from now on the record stands for this entry. */
  readonly replaces?: boolean;
}

/** What an append says of the source its entries come from. */
export interface IntakeAppend {
  readonly name: string;
  /** INTAKE_CONFLICT unless the intake's stamp is this; it grows by one. */
  readonly stamp: number;
  /** One for each entry; undefined for an entry that comes from no record. */
  readonly records: readonly (NewRecord | undefined)[];
  /** Left out, these stay as they were. */
  readonly checkpoint?: string;
  readonly progress?: string;
}

/** The foreign sources of all sessions, and what was taken in of them. */
export interface IntakeStore {
  /** The intake of that name, made for `session` if there is none. SESSION_NOT_FOUND if that is missing. */
  open(name: string, session: SessionId): Promise<IntakeState>;
  get(name: string): Promise<IntakeState | undefined>;
  /** Those of the records that were taken in. */
  find(name: string, records: readonly string[]): Promise<ReadonlyMap<string, TakenRecord>>;
  /** Keeps checkpoint and progress without an append; INTAKE_CONFLICT as there. Returns the new stamp. */
  save(name: string, stamp: number, saved: Pick<IntakeState, "checkpoint" | "progress">): Promise<number>;
}
