import type { SessionId } from "../../model/entry.ts";

/** An entry by which a conversation is found again. */
export interface StoredPlace {
  /** 32 hexadecimal digits: the owner and the position that they stand for are known to the writer only. */
  readonly key: string;
  readonly session: SessionId;
  readonly seq: number;
}

/** A session none of whose entries has a key. */
export interface UnplacedSession {
  readonly session: SessionId;
  /** For the next page. */
  readonly place: number;
}

/**
 * Keys of entries, for look-ups across sessions; several entries may have one key. `NewEntry.places` writes them in the
 * commit of their entry. They leave with their entry, when it is redacted or its session deleted.
 */
export interface PlaceStore {
  /** The entries with these keys, at most `limit` of each key, those of the newest sessions first. */
  find(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]>;
  /**
   * Like `find`, but only entries after which their session has none with a key: conversations that end there. Of a key
   * that thousands have, only the newest are considered.
   */
  findLast(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]>;
  /** Adds keys to entries that exist; keys of entries that are gone are ignored. */
  put(places: readonly StoredPlace[]): Promise<void>;
  /** All keys of a session by seq; empty if it does not exist. */
  ofSession(session: SessionId): Promise<readonly StoredPlace[]>;
  /** Sessions without keys in the order of creation, for stores that are older than the keys. */
  listUnplaced(query: {
    readonly after?: number;
    readonly limit: number;
  }): Promise<readonly UnplacedSession[]>;
}
