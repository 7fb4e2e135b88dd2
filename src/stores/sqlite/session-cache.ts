import { type EntryQuery, MAX_SEQ, type StoredEntry } from "../../log/store/entry-store.ts";
import { toSessionRecord } from "../../log/store/record-rows.ts";
import { createSessionNotFound } from "../../log/store/refusals.ts";
import type { KnownRecord, SessionRecord } from "../../log/store/session-store.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import type { SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import type { Database, Row } from "./database.ts";
import { seqOfKey, toEntryKey } from "./entry-key.ts";
import { isDamagedPage } from "./read-around-damage.ts";

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

/** Columns and tables of a row that `toSessionRecord` converts. */
export const RECORD_COLUMNS =
  "s.number, s.id, p.id AS parent, s.relation, s.created_at, s.title, s.meta, s.line_seq";
export const RECORD_TABLES = "sessions s LEFT JOIN sessions p ON p.number = s.parent";

const MAX_RECORD_BYTES = 2 * 1024 * 1024;
/** Approximate memory of a record without title and meta. */
const RECORD_BYTES = 400;

/** A record with its size; without one, the session does not exist. */
interface CachedRecord extends KnownRecord {
  readonly sizeBytes: number;
}

/** The records of the sessions in use, including those of ids without a session. Its owner keeps it current. */
class SessionRecords {
  readonly #records = new BoundedMap<SessionId, CachedRecord>({
    max: MAX_RECORD_BYTES,
    weigh: ({ sizeBytes }, id) => sizeBytes + id.length,
  });
  readonly #byId;

  constructor(db: Database) {
    this.#byId = db.prepare(`SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} WHERE s.id = ?`);
  }

  get sizeBytes(): number {
    return this.#records.weight;
  }

  /** The record in memory; undefined if nothing is known about the session. */
  peek(id: SessionId): KnownRecord | undefined {
    return this.#records.use(id);
  }

  /** Reads a record and keeps it. */
  read(id: SessionId): SessionRecord | undefined {
    const row = this.#byId.get(id);
    const record = row && freezeRecord(toSessionRecord(row));
    const sizeBytes = RECORD_BYTES + (record ? measureRow(row) : 0);
    this.#records.set(id, { record, sizeBytes });
    return record;
  }

  /** Keeps a record that was just written; `meta` is the stored text, so that nobody else holds its objects. */
  keep(written: SessionRecord, meta: string | null): void {
    const { id, parent, relation, createdAt, title, lineSeq } = written;
    const record = freezeRecord(
      toSessionRecord({
        id,
        parent,
        relation,
        created_at: createdAt,
        title: title?.toWellFormed(),
        meta,
        line_seq: lineSeq,
      }),
    );
    const sizeBytes = RECORD_BYTES + (title?.length ?? 0) + (meta?.length ?? 0) * 4;
    this.#records.set(id, { record, sizeBytes });
  }

  forget(id: SessionId): void {
    this.#records.delete(id);
  }

  clear(): void {
    this.#records.clear();
  }
}

function measureRow(row: Row): number {
  return ((row.title as string | null)?.length ?? 0) + ((row.meta as string | null)?.length ?? 0) * 4;
}

/** Many readers share a cached record, so none may change it. */
function freezeRecord(record: SessionRecord): SessionRecord {
  if (record.meta) freezeJson(record.meta);
  return Object.freeze(record);
}

function freezeJson(value: Json | { readonly [key: string]: Json }): void {
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) freezeJson(item as Json);
  Object.freeze(value);
}
