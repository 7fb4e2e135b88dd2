import type { SessionId } from "../model/entry.ts";
import type { Json } from "../model/json.ts";
import type { Freed } from "./freed.ts";

/** Why a session has a parent. */
export type Relation = "child" | "fork";

/** What is known of a session besides its entries. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly parent?: SessionId;
  readonly relation?: Relation;
  readonly createdAt: number;
  readonly title?: string;
  readonly meta?: { readonly [key: string]: Json };
  /** Seq of the entry of kind "line" appended last; 0 when there is none and the line is the whole log. */
  readonly lineSeq: number;
}

/** What a new session starts with. */
export type NewSession = Pick<SessionRecord, "id" | "parent" | "relation" | "createdAt" | "title" | "meta">;

/** Which sessions to list, newest first. */
export interface SessionQuery {
  readonly limit: number;
  /** Only sessions made before this one. */
  readonly before?: SessionId;
  readonly parent?: SessionId;
  /** Only sessions whose ids begin so; not together with `parent`. */
  readonly prefix?: string;
}

/** The sessions of a store. */
export interface SessionStore {
  /** Returns the session of that id, making it from `session` if there is none. SESSION_NOT_FOUND if the parent is missing. */
  open(session: NewSession): Promise<{ readonly record: SessionRecord; readonly created: boolean }>;
  get(id: SessionId): Promise<SessionRecord | undefined>;
  list(query: SessionQuery): Promise<readonly SessionRecord[]>;
  /** Changes title or meta; SESSION_NOT_FOUND if there is no such session. */
  update(id: SessionId, change: Partial<Pick<SessionRecord, "title" | "meta">>): Promise<SessionRecord>;
  /**
   * Removes the session, its entries and drafts, and the blobs that nothing else refers to, from disk. Its id is free
   * at once. SESSION_HAS_CHILDREN while children or forks are left; SESSION_NOT_FOUND if there is no such session.
   */
  delete(id: SessionId): Promise<Freed>;
}
