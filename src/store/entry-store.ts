import type { Digest } from "../model/blob.ts";
import type { EntryKind, SessionId } from "../model/entry.ts";
import type { LonghaulError } from "../model/errors.ts";
import type { Freed } from "./freed.ts";
import type { IntakeAppend } from "./intake-store.ts";
import type { NewSession } from "./session-store.ts";
import type { TaskWrite } from "./task-store.ts";

/** One entry as the store keeps it; the payload is opaque to it. */
export interface StoredEntry {
  readonly seq: number;
  readonly at: number;
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
}

/** One entry to be appended. */
export interface NewEntry {
  readonly kind: EntryKind;
  /** When it happened; the store raises it to the entry before's where it is smaller. */
  readonly at: number;
  readonly payload: Uint8Array;
  /** Blobs the payload refers to; they live at least as long as the entry. */
  readonly blobs?: readonly Digest[];
}

/** Entries for one session: all of them are appended, next to each other, or none. */
export interface AppendRequest {
  readonly session: SessionId;
  readonly entries: readonly NewEntry[];
  /** POSITION_CONFLICT unless the session's last seq is this. */
  readonly expectedHead?: number;
  /** Makes the session first if it does not exist yet. */
  readonly create?: NewSession;
  /** The draft that these entries finish: removed with the append; DRAFT_FINISHED if it is gone already. */
  readonly finishes?: string;
  /** Holds that the entries' blobs were written under; let go with the append. */
  readonly holds?: readonly string[];
  /** The foreign source that the entries come from; their records are taken in with the append. */
  readonly intake?: IntakeAppend;
  /** The task that the entries belong to: made, changed, or checked with the append; TASK_CONFLICT if it is not as expected. */
  readonly task?: TaskWrite;
}

/** Where the entries of a request went. */
export interface Appended {
  readonly firstSeq: number;
  /** The times given, one an entry. */
  readonly ats: readonly number[];
}

/** What became of one request: a failure of one does not touch the others. */
export type AppendOutcome = Appended | LonghaulError;

/** End of a session's log; seq 0 when it is empty. */
export interface Head {
  readonly seq: number;
  readonly at: number;
}

/** End of one session's log, as `heads` lists them. */
export interface SessionHead {
  readonly session: SessionId;
  readonly createdAt: number;
  readonly seq: number;
  /** For the next page; a place belongs to one session for good, also after that was deleted. */
  readonly place: number;
}

/** Which entries to read. */
export interface EntryQuery {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly order: "ascending" | "descending";
  /** Only these kinds; all when left out. */
  readonly kinds?: readonly EntryKind[];
}

/** The logs of all sessions. */
export interface EntryStore {
  /** Carries out all requests in one transaction; rejects, with nothing changed, when that fails as a whole. */
  append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]>;
  get(session: SessionId, seq: number): Promise<StoredEntry | undefined>;
  read(session: SessionId, query: EntryQuery): Promise<readonly StoredEntry[]>;
  /** SESSION_NOT_FOUND if there is no such session. */
  head(session: SessionId): Promise<Head>;
  /** The ends of all logs, a page at a time: those behind `after`, the last one's place of the page before. */
  heads(query: { readonly after?: number; readonly limit: number }): Promise<readonly SessionHead[]>;
  /** Another text after every commit of whatever process, and perhaps without one: while it is the same, nothing is new. */
  version(): Promise<string>;
  /** The last seq whose time is at or before `at`; 0 if there is none. */
  seqAt(session: SessionId, at: number): Promise<number>;
  /** Replaces content by a tombstone of kind "redacted" and removes blobs nothing else refers to, from disk. */
  redact(session: SessionId, tombstones: readonly Tombstone[]): Promise<Freed>;
}

/** What takes the place of a redacted entry's content. */
export interface Tombstone {
  readonly seq: number;
  readonly payload: Uint8Array;
}
