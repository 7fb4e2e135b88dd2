import type { EntryKind, SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import type {
  AppendOutcome,
  AppendRequest,
  EntryQuery,
  EntryStore,
  Head,
  StoredEntry,
  Tombstone,
} from "../entry-store.ts";
import type { Freed } from "../freed.ts";
import type { BlobRefs } from "./blob-refs.ts";
import type { Database, Row } from "./database.ts";
import type { Drafts } from "./drafts.ts";
import type { Eraser } from "./eraser.ts";
import { checkSeqRoom, entryKey, MAX_SEQ, seqOfKey } from "./key.ts";
import { kindNumber, kindOf } from "./kinds.ts";
import type { SessionCache, SessionState } from "./session-cache.ts";
import { sessionNotFound } from "./session-cache.ts";
import type { SqliteSessions } from "./sessions.ts";
import { searchByTime } from "./time-search.ts";

/** What an append needs besides the entries table. */
export interface EntryNeighbours {
  readonly cache: SessionCache;
  readonly sessions: SqliteSessions;
  readonly drafts: Drafts;
  readonly refs: BlobRefs;
  readonly eraser: Eraser;
  /** Called after each commit that added entries. */
  readonly committed: () => void;
}

/** Entries in SQLite. */
export class SqliteEntries implements EntryStore {
  readonly #db: Database;
  readonly #near: EntryNeighbours;
  readonly #insert;
  readonly #one;
  readonly #time;
  readonly #setLine;
  readonly #readStatements = new Map<string, ReturnType<Database["prepare"]>>();

  constructor(db: Database, near: EntryNeighbours) {
    this.#db = db;
    this.#near = near;
    this.#insert = db.prepare("INSERT INTO entries (key, at, kind, payload) VALUES (?, ?, ?, ?)");
    this.#one = db.prepare("SELECT key, at, kind, payload FROM entries WHERE key = ?");
    this.#time = db.prepare("SELECT at FROM entries WHERE key = ?");
    this.#setLine = db.prepare("UPDATE sessions SET line_seq = ? WHERE number = ?");
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    try {
      const outcomes = await this.#db.transact(() => {
        this.#near.cache.refresh();
        return requests.map((request) => this.#appendOne(request));
      });
      this.#near.committed();
      return outcomes;
    } catch (error) {
      this.#near.cache.forgetAll();
      throw error;
    }
  }

  /** All that can be refused is checked before the first write, so that a refused request leaves no trace. */
  #appendOne(request: AppendRequest): AppendOutcome {
    let state: SessionState;
    try {
      state = this.#check(request);
    } catch (error) {
      if (error instanceof LonghaulError) return error;
      throw error;
    }
    const firstSeq = state.seq + 1;
    const ats: number[] = [];
    for (const entry of request.entries) {
      const seq = state.seq + 1;
      const at = Math.max(entry.at, state.at);
      const key = entryKey(state.number, seq);
      this.#insert.run(key, at, kindNumber(entry.kind), entry.payload);
      if (entry.blobs) this.#near.refs.add(key, entry.blobs);
      if (entry.kind === "line") this.#setLine.run(seq, state.number);
      state.seq = seq;
      state.at = at;
      ats.push(at);
    }
    if (request.finishes !== undefined) this.#near.drafts.deleteWithin(request.finishes);
    if (request.holds) this.#near.refs.letGo(request.holds);
    return { firstSeq, ats };
  }

  #check(request: AppendRequest): SessionState {
    const { cache, sessions, drafts, refs } = this.#near;
    for (const entry of request.entries) if (entry.blobs) refs.requireAll(entry.blobs);
    if (request.finishes !== undefined) drafts.require(request.finishes);
    const state = cache.find(request.session);
    const headSeq = state?.seq ?? 0;
    if (request.expectedHead !== undefined && request.expectedHead !== headSeq) {
      throw new LonghaulError(
        "POSITION_CONFLICT",
        `Session ${JSON.stringify(request.session)} is at ${headSeq}, not at ${request.expectedHead}: someone else appended. Read what is new and try again.`,
        { details: { session: request.session, expected: request.expectedHead, actual: headSeq } },
      );
    }
    checkSeqRoom(request.session, headSeq, request.entries.length);
    if (state) return state;
    if (request.create) sessions.openWithin(request.create);
    return cache.find(request.session) ?? sessionNotFound(request.session);
  }

  /** Looks under the number we remember; only a miss can mean that the session was deleted and made anew elsewhere. */
  #hitOrRefresh<T>(session: SessionId, look: (number: number) => T | undefined): T | undefined {
    const { cache } = this.#near;
    const known = cache.find(session);
    const hit = known && look(known.number);
    if (hit !== undefined) return hit;
    cache.refresh();
    const fresh = cache.find(session);
    return fresh && fresh.number !== known?.number ? look(fresh.number) : undefined;
  }

  async get(session: SessionId, seq: number): Promise<StoredEntry | undefined> {
    return this.#db.read(() => {
      if (seq < 1 || seq > MAX_SEQ) return undefined;
      const row = this.#hitOrRefresh(session, (number) => this.#one.get(entryKey(number, seq)));
      return row && toStored(row);
    });
  }

  async read(session: SessionId, query: EntryQuery): Promise<readonly StoredEntry[]> {
    return this.#db.read(() => {
      const rows = this.#hitOrRefresh(session, (number) => {
        const from = entryKey(number, Math.max(query.from, 1));
        const to = entryKey(number, Math.min(query.to, MAX_SEQ));
        const found = this.#readStatement(query).all(from, to, query.limit);
        return found.length > 0 ? found : undefined;
      });
      return rows?.map(toStored) ?? [];
    });
  }

  async head(session: SessionId): Promise<Head> {
    return this.#db.read(() => {
      const { seq, at } = this.#near.cache.require(session);
      return { seq, at };
    });
  }

  async seqAt(session: SessionId, at: number): Promise<number> {
    return this.#db.snapshot(() => {
      const state = this.#near.cache.require(session);
      const timeOf = (seq: number) => this.#time.get(entryKey(state.number, seq))?.at as number;
      return searchByTime(at, state, timeOf);
    });
  }

  async redact(session: SessionId, tombstones: readonly Tombstone[]): Promise<Freed> {
    const freed = await this.#db.transact(() => {
      const { number } = this.#near.cache.require(session);
      return this.#near.eraser.redact(
        tombstones.map(({ seq, payload }) => ({ key: entryKey(number, seq), payload })),
      );
    });
    return { ...freed, scrubbed: await this.#db.emptyJournal() };
  }

  /** One prepared statement for each order and set of kinds; there are few. */
  #readStatement({ order, kinds }: EntryQuery): ReturnType<Database["prepare"]> {
    const name = `${order} ${kinds?.join() ?? "*"}`;
    let statement = this.#readStatements.get(name);
    if (!statement) {
      const filter = kinds ? `AND kind IN (${kinds.map(kindNumber).join()})` : "";
      const direction = order === "ascending" ? "ASC" : "DESC";
      statement = this.#db.prepare(
        `SELECT key, at, kind, payload FROM entries WHERE key BETWEEN ? AND ? ${filter} ORDER BY key ${direction} LIMIT ?`,
      );
      this.#readStatements.set(name, statement);
    }
    return statement;
  }
}

function toStored(row: Row): StoredEntry {
  const kind: EntryKind | undefined = kindOf(row.kind as number);
  if (kind === undefined) {
    throw new LonghaulError(
      "STORE_CORRUPT",
      `Entry ${seqOfKey(row.key as number)} is of kind number ${row.kind}, which this version does not know; restore the store from a backup or update longhaul.`,
    );
  }
  return { seq: seqOfKey(row.key as number), at: row.at as number, kind, payload: row.payload as Uint8Array };
}
