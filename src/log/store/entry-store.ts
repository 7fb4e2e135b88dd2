import type { Digest } from "../../model/blob.ts";
import type { EntryKind, SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { FreedCounts } from "./freed-counts.ts";
import type { IntakeAppend } from "./intake-store.ts";
import type { NewSession } from "./session-store.ts";
import type { TaskWrite } from "./task-store.ts";

/** An entry as stored; the payload is opaque to the store. */
export interface StoredEntry {
  readonly seq: number;
  readonly at: number;
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
}

/** An entry to append. */
export interface NewEntry {
  readonly kind: EntryKind;
  /** Time of the event; the store raises it to the previous entry's time if it is smaller. */
  readonly at: number;
  readonly payload: Uint8Array;
  /** Blobs that the payload refers to; they live at least as long as the entry. */
  readonly blobs?: readonly Digest[];
  /** Keys by which the entry is found across sessions. */
  readonly places?: readonly string[];
}

/** Entries for one session: all are appended consecutively, or none. */
export interface AppendRequest {
  readonly session: SessionId;
  readonly entries: readonly NewEntry[];
  /** Fails with POSITION_CONFLICT unless this is the session's last seq. */
  readonly expectedHead?: number;
  /** Creates the session first if it does not exist. */
  readonly create?: NewSession;
  /** The draft that these entries finish: removed with the append; DRAFT_FINISHED if it no longer exists. */
  readonly finishes?: string;
  /** Holds under which the entries' blobs were written; released with the append. */
  readonly holds?: readonly string[];
  /** The foreign source of the entries; the append also stores their records. */
  readonly intake?: IntakeAppend;
  /**
   * The task that the entries belong to: created, changed or checked with the append; TASK_CONFLICT if it has changed.
   */
  readonly task?: TaskWrite;
}

/** Position of the appended entries. */
export interface AppendResult {
  readonly firstSeq: number;
  /** The assigned times, one per entry. */
  readonly ats: readonly number[];
}

/** Outcome of one request; a failed request does not affect the others. */
export type AppendOutcome = AppendResult | LonghaulError;

/** End of a session's log; seq 0 when it is empty. */
export interface Head {
  readonly seq: number;
  readonly at: number;
}

/** End of one session's log, as listed by `heads`. */
export interface SessionHead {
  readonly session: SessionId;
  readonly createdAt: number;
  readonly seq: number;
  /** For the next page; a place belongs to one session for good, even after the session was deleted. */
  readonly place: number;
}

/** Selects the entries to read. */
export interface EntryQuery {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly order: "ascending" | "descending";
  /** All kinds by default. */
  readonly kinds?: readonly EntryKind[];
}

/** The logs of all sessions. */
export interface EntryStore {
  /** Executes all requests in one transaction; rejects, with nothing changed, if the transaction fails. */
  append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]>;
  get(session: SessionId, seq: number): Promise<StoredEntry | undefined>;
  read(session: SessionId, query: EntryQuery): Promise<readonly StoredEntry[]>;
  /** Throws SESSION_NOT_FOUND if the session does not exist. */
  head(session: SessionId): Promise<Head>;
  /** The same head if it is in memory; undefined if it must be read. */
  peekHead?(session: SessionId): Head | undefined;
  /** The ends of all logs in pages; `after` is the `place` of the previous page's last item. */
  heads(query: { readonly after?: number; readonly limit: number }): Promise<readonly SessionHead[]>;
  /**
   * A text that changes after every commit of any process, and may change without one; the same
   * text means no new entries.
   */
  version(): Promise<string>;
  /** The last seq whose time is at or before `at`; 0 if none. */
  seqAt(session: SessionId, at: number): Promise<number>;
  /** Replaces content by a tombstone of kind "redacted" and deletes blobs without other references from disk. */
  redact(session: SessionId, tombstones: readonly Tombstone[]): Promise<FreedCounts>;
}

/** Replaces the content of a redacted entry. */
export interface Tombstone {
  readonly seq: number;
  readonly payload: Uint8Array;
}

/** A session whose last entry is dated this far ahead of the clock was written under a wrong clock. */
const MAX_AHEAD_MS = 24 * 3_600_000;

/** The time of an entry. Times never decrease, unless the last entry was dated by a clock that ran more than a day ahead. */
export function chooseEntryTime(at: number, lastAt: number, now: () => number): number {
  if (at >= lastAt) return at;
  return lastAt > now() + MAX_AHEAD_MS ? at : lastAt;
}

/** Numbers of the entry kinds on disk; part of the file format, never reused. */
export const KIND_NUMBERS: Readonly<Record<EntryKind, number>> = {
  message: 1,
  notice: 2,
  line: 3,
  redacted: 4,
  usage: 5,
  overlay: 6,
  raw: 7,
  pin: 8,
  task: 9,
  damaged: 10,
};

const KIND_OF = new Map(Object.entries(KIND_NUMBERS).map(([kind, number]) => [number, kind as EntryKind]));

/** The kind of a number; undefined if this version does not know it. */
export function toKind(number: number): EntryKind | undefined {
  return KIND_OF.get(number);
}

/** Largest seq of a session. */
export const MAX_SEQ = 2 ** 30 - 1;

/** Throws SESSION_LIMIT if a session's log has no room for `count` more entries. */
export function checkSeqRoom(session: SessionId, headSeq: number, count: number): void {
  if (headSeq + count <= MAX_SEQ) return;
  throw new LonghaulError(
    "SESSION_LIMIT",
    `Session ${JSON.stringify(session)} has ${headSeq} entries; ${MAX_SEQ} is the most one log can number. Fork it to go on.`,
    { details: { session } },
  );
}
