import type { EntryQuery, StoredEntry } from "../../log/store/entry-store.ts";
import { createSessionNotFound } from "../../log/store/refusals.ts";
import { MAX_SEQ } from "../../log/store/seq-limit.ts";
import { BoundedMap } from "../../model/base/bounded-map.ts";
import type { SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { Database, Row } from "./database.ts";
import { seqOfKey, toEntryKey } from "./entry-key.ts";
import { isDamagedPage } from "./read-around-damage.ts";
import { SessionRecords } from "./session-records.ts";

/** Cached head of a session's log, kept up to date by the appends of this process. */
export interface SessionState {
  readonly number: number;
  seq: number;
  at: number;
}

const MAX_SESSIONS = 2048;

/**
 * Caches the sessions in use: number and head, record, and the entries just appended. Everything but `find` is as the
 * file says: each read asks whether another connection has committed, and starts again if so. That takes 2 µs; asking
 * once a tick would let a read miss an entry that an earlier one of the tick has announced. The result of `find` may be
 * stale when others write.
 */
export class SessionCache {
  readonly records: SessionRecords;
  readonly hot = new HotEntries();
  readonly #db: Database;
  readonly #states = new BoundedMap<SessionId, SessionState>({ max: MAX_SESSIONS });
  readonly #numberOf;
  readonly #headOf;
  #dataVersion = -1;
  #overwrites = -1;

  constructor(db: Database) {
    this.#db = db;
    this.records = new SessionRecords(db);
    this.#numberOf = db.prepare("SELECT number FROM sessions WHERE id = ?");
    this.#headOf = db.prepare(
      "SELECT key, at FROM entries WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT 1",
    );
  }

  get sizeBytes(): number {
    return this.hot.sizeBytes + this.records.sizeBytes;
  }

  /** True if the cache was right; false if it was outdated, or if the file cannot be asked at once. */
  confirm(): boolean {
    if (this.#db.isClosed) return false;
    try {
      return this.refresh();
    } catch {
      // The read that follows waits for a busy file, or reports the failure.
      return false;
    }
  }

  /** Must be called before a decision is based on cached state; false if that was outdated. */
  refresh(): boolean {
    const isOverwritten = this.#dropOverwritten();
    const version = this.#db.dataVersion();
    const isOutdated = version !== this.#dataVersion;
    if (isOutdated) this.forgetAll();
    this.#dataVersion = version;
    return !isOutdated && !isOverwritten;
  }

  /** The cached state of a session; undefined if the session does not exist. */
  find(id: SessionId): SessionState | undefined {
    this.#dropOverwritten();
    const known = this.#states.use(id);
    if (known) return known;
    const row = this.#numberOf.get(id);
    if (!row) return undefined;
    const number = row.number as number;
    const head = this.#lastRow(id, number);
    const state = {
      number,
      seq: head ? seqOfKey(head.key as number) : 0,
      at: head ? (head.at as number) : 0,
    };
    this.#states.set(id, state);
    return state;
  }

  /** Keeps the state of a session that was just created. */
  keepNew(id: SessionId, number: number): void {
    this.#states.set(id, { number, seq: 0, at: 0 });
  }

  /** The state of a session if it is in memory; right if `confirm` says so. */
  peek(id: SessionId): SessionState | undefined {
    // Each append makes its session the youngest, which is enough.
    return this.#states.get(id);
  }

  #lastRow(id: SessionId, number: number): Row | undefined {
    try {
      return this.#headOf.get(toEntryKey(number, 0), toEntryKey(number, MAX_SEQ));
    } catch (error) {
      if (!isDamagedPage(error)) throw error;
      throw new LonghaulError(
        "STORE_CORRUPT",
        `The end of session ${JSON.stringify(id)} is damaged on disk; "longhaul repair" copies everything readable into a new store.`,
        { cause: error, details: { session: id } },
      );
    }
  }

  /** The current state of a session; throws SESSION_NOT_FOUND. */
  require(id: SessionId): SessionState {
    this.refresh();
    return this.find(id) ?? throwSessionNotFound(id);
  }

  forget(id: SessionId): void {
    this.#states.delete(id);
    this.records.forget(id);
  }

  forgetAll(): void {
    this.#states.clear();
    this.records.clear();
    this.hot.clear();
  }

  /** After a rollback, cached states may be ahead of the store; after other writes they may be behind. */
  #dropOverwritten(): boolean {
    if (this.#overwrites === this.#db.overwrites) return false;
    this.#overwrites = this.#db.overwrites;
    this.forgetAll();
    return true;
  }
}

export function throwSessionNotFound(id: SessionId): never {
  throw createSessionNotFound(id);
}

const MAX_BYTES = 4 * 1024 * 1024;
/** An entry above this size would replace too many others. */
const MAX_ENTRY_BYTES = MAX_BYTES / 16;
/** Approximate memory of an entry without the bytes of its payload. */
const ENTRY_BYTES = 300;

/** The entries appended last, for the readers that follow the log. The oldest leave first. */
class HotEntries {
  readonly #entries = new BoundedMap<number, StoredEntry>({
    max: MAX_BYTES,
    weigh: ({ payload }) => payload.byteLength + ENTRY_BYTES,
  });

  get sizeBytes(): number {
    return this.#entries.weight;
  }

  /** Keeps a copy: the caller may use its payload again, and a small one would keep a page of Node's buffer pool. */
  add(key: number, entry: StoredEntry): void {
    if (entry.payload.byteLength > MAX_ENTRY_BYTES) return;
    this.#entries.set(key, { ...entry, payload: new Uint8Array(entry.payload) });
  }

  get(sessionNumber: number, seq: number): StoredEntry | undefined {
    return this.#entries.get(toEntryKey(sessionNumber, seq));
  }

  /** The entries of a query whose range ends at or before the head; undefined unless all are here. */
  read(sessionNumber: number, query: EntryQuery): StoredEntry[] | undefined {
    const { from, to, limit, order, kinds } = query;
    // A search for kinds may walk the whole range; it is not begun if its end is missing.
    if (kinds && from <= to && !(this.get(sessionNumber, from) && this.get(sessionNumber, to)))
      return undefined;
    const found: StoredEntry[] = [];
    const step = order === "ascending" ? 1 : -1;
    for (let seq = step > 0 ? from : to; seq >= from && seq <= to && found.length < limit; seq += step) {
      const entry = this.#entries.get(toEntryKey(sessionNumber, seq));
      if (!entry) return undefined;
      if (!kinds || kinds.includes(entry.kind)) found.push(entry);
    }
    return found;
  }

  clear(): void {
    this.#entries.clear();
  }
}
