import type { SessionId } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { FreedCounts } from "./freed-counts.ts";

/** Why a session has a parent. */
type Relation = "child" | "fork";

/** A session's metadata. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly parent?: SessionId;
  readonly relation?: Relation;
  readonly createdAt: number;
  readonly title?: string;
  readonly meta?: { readonly [key: string]: Json };
  /** Seq of the last "line" entry; 0 if there is none and the line is the whole log. */
  readonly lineSeq: number;
}

/** The record of an id; undefined if there is no such session. */
export interface KnownRecord {
  readonly record: SessionRecord | undefined;
}

/** The metadata of a new session. */
export type NewSession = Pick<SessionRecord, "id" | "parent" | "relation" | "createdAt" | "title" | "meta">;

type RecordFields = Partial<Pick<SessionRecord, "title" | "meta">>;

/** New fields of a record, or a function that returns them for the present record. */
export type RecordChange = RecordFields | ((record: SessionRecord) => RecordFields);

/** The record after a change. */
export function changeRecord(record: SessionRecord, change: RecordChange): SessionRecord {
  return { ...record, ...(typeof change === "function" ? change(record) : change) };
}

/** Selects the sessions to list, newest first. */
export interface SessionQuery {
  readonly limit: number;
  /** Only sessions created before this one. */
  readonly before?: SessionId;
  readonly parent?: SessionId;
  /** Only sessions whose ids start with this; not combinable with `parent`. */
  readonly prefix?: string;
}

/** Size and last use of a session. */
export interface SessionSize {
  readonly session: SessionId;
  readonly entries: number;
  readonly payloadBytes: number;
  /** Blobs that only this session refers to. */
  readonly blobBytes: number;
  /** Time of the last entry, else of the creation. */
  readonly usedAt: number;
}

/** The sessions of a store. */
export interface SessionStore {
  /**
   * Returns the session with that id, creating it from `session` if needed. Throws SESSION_NOT_FOUND
   * if the parent is missing.
   */
  open(session: NewSession): Promise<{ readonly record: SessionRecord; readonly created: boolean }>;
  get(id: SessionId): Promise<SessionRecord | undefined>;
  /** The answer of `get` if it is in memory; undefined if it must be read. */
  peek?(id: SessionId): KnownRecord | undefined;
  list(query: SessionQuery): Promise<readonly SessionRecord[]>;
  /**
   * The sessions that belong to some owners, decided by policies of the store itself, which do not depend on
   * the statement that asks; undefined if it cannot.
   */
  readable?(
    ids: readonly SessionId[],
    owners: readonly string[],
  ): Promise<ReadonlySet<SessionId> | undefined>;
  /**
   * Changes title or meta; throws SESSION_NOT_FOUND if the session does not exist. A function gets the record inside of the
   * transaction, so that no change of another writer is lost; it may be called again.
   */
  update(id: SessionId, change: RecordChange): Promise<SessionRecord>;
  /**
   * Deletes the session, its entries and drafts, and blobs without other references from disk. The id can be reused at
   * once. Throws SESSION_HAS_CHILDREN while children or forks exist, SESSION_NOT_FOUND if the session does not exist.
   */
  delete(id: SessionId): Promise<FreedCounts>;
  /** Sizes of all sessions, in the order of creation. */
  sizes(): AsyncIterable<SessionSize>;
}
