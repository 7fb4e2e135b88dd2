import {
  type AppendOutcome,
  type AppendRequest,
  type AppendResult,
  checkSeqRoom,
  chooseEntryTime,
  type EntryQuery,
  type EntryStore,
  type Head,
  KIND_NUMBERS,
  MAX_SEQ,
  type SessionHead,
  type StoredEntry,
  type Tombstone,
} from "../../log/store/entry-store.ts";
import type { FreedCounts } from "../../log/store/freed-counts.ts";
import { createPositionConflict } from "../../log/store/refusals.ts";
import type { Clock } from "../../model/clock.ts";
import type { SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { BlobHolds } from "./blob-holds.ts";
import type { BlobRefs } from "./blob-refs.ts";
import type { Database } from "./database.ts";
import type { Drafts } from "./drafts.ts";
import { seqOfKey, toEntryKey } from "./entry-key.ts";
import type { Eraser } from "./eraser.ts";
import type { Intakes } from "./intakes.ts";
import { DamagedPageReader, fillGaps, isDamagedPage, toStored } from "./read-around-damage.ts";
import { type SessionCache, type SessionState, throwSessionNotFound } from "./session-cache.ts";
import type { SqlitePlaces } from "./sqlite-places.ts";
import type { SqliteSessions } from "./sqlite-sessions.ts";
import type { SqliteTasks } from "./sqlite-tasks.ts";

/** Dependencies of `SqliteEntries`. */
interface EntryDeps {
  readonly cache: SessionCache;
  readonly writer: EntryWriter;
  readonly eraser: Eraser;
  /** Called after each commit that added entries. */
  readonly onCommit: () => void;
}

/** Entries in SQLite. */
export class SqliteEntries implements EntryStore {
  readonly #db: Database;
  readonly #deps: EntryDeps;
  readonly #one;
  readonly #time;
  readonly #heads;
  readonly #damaged: DamagedPageReader;
  #ownCommits = 0;
  readonly #readStatements = new Map<string, ReturnType<Database["prepare"]>>();

  constructor(db: Database, parts: EntryDeps) {
    this.#db = db;
    this.#deps = parts;
    this.#one = db.prepare("SELECT key, at, kind, payload FROM entries WHERE key = ?");
    this.#damaged = new DamagedPageReader(db);
    this.#time = db.prepare(
      "SELECT at FROM entries WHERE key BETWEEN ? AND ? AND at <= ? ORDER BY key LIMIT 1",
    );
    this.#heads = db.prepare(
      `SELECT number, id, created_at,
         (SELECT max(key) FROM entries WHERE key BETWEEN number * ${MAX_SEQ + 1} AND number * ${MAX_SEQ + 1} + ${MAX_SEQ}) AS head
       FROM sessions WHERE number > ? AND id IS NOT NULL ORDER BY number LIMIT ?`,
    );
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    const { writer } = this.#deps;
    const outcomes = await this.#db.transactBeside(() => writer.appendAll(requests), writer.keepWritten);
    this.#ownCommits++;
    this.#deps.onCommit();
    return outcomes;
  }

  /**
   * Looks up under the cached session number; only a miss can mean that another process deleted
   * and recreated the session.
   */
  #hitOrRefresh<T>(session: SessionId, look: (number: number) => T | undefined): T | undefined {
    const { cache } = this.#deps;
    const known = cache.find(session);
    const hit = known && look(known.number);
    if (hit !== undefined) return hit;
    cache.refresh();
    const fresh = cache.find(session);
    return fresh && fresh.number !== known?.number ? look(fresh.number) : undefined;
  }

  get(session: SessionId, seq: number): Promise<StoredEntry | undefined> {
    const hot = this.#getHot(session, seq);
    if (hot && this.#deps.cache.confirm()) return Promise.resolve(hot);
    return this.#db.read(() => {
      if (seq < 1 || seq > MAX_SEQ) return undefined;
      return this.#hitOrRefresh(session, (number) => this.#get(number, seq));
    });
  }

  read(session: SessionId, query: EntryQuery): Promise<readonly StoredEntry[]> {
    const hot = this.#readHot(session, query);
    if (hot && this.#deps.cache.confirm()) return Promise.resolve(hot);
    return this.#db.read(() => {
      const found = this.#hitOrRefresh(session, (number) => {
        const stored = this.#read(session, number, query);
        return stored.length > 0 ? stored : undefined;
      });
      return found ?? [];
    });
  }

  /** The entry in memory, which may be outdated. */
  #getHot(session: SessionId, seq: number): StoredEntry | undefined {
    const state = this.#deps.cache.peek(session);
    return state && this.#deps.cache.hot.get(state.number, seq);
  }

  /** The entries of a query if all are in memory; they and the head may be outdated. */
  #readHot(session: SessionId, query: EntryQuery): StoredEntry[] | undefined {
    const { cache } = this.#deps;
    const state = cache.peek(session);
    if (!state) return undefined;
    const range = { from: Math.max(query.from, 1), to: Math.min(query.to, state.seq) };
    return cache.hot.read(state.number, { ...query, ...range });
  }

  #get(number: number, seq: number): StoredEntry | undefined {
    try {
      const row = this.#one.get(toEntryKey(number, seq));
      return row && toStored(row);
    } catch (error) {
      if (!isDamagedPage(error)) throw error;
      return this.#damaged.get(number, seq);
    }
  }

  #read(session: SessionId, number: number, query: EntryQuery): StoredEntry[] {
    const from = Math.max(query.from, 1);
    const to = Math.min(query.to, MAX_SEQ);
    const { cache } = this.#deps;
    cache.refresh();
    // Asked before the rows: entries that another process appends in between are not a gap.
    const known = cache.find(session);
    try {
      const rows = this.#readStatement(query).all(
        toEntryKey(number, from),
        toEntryKey(number, to),
        query.limit,
      );
      const stored = rows.map(toStored);
      if (query.kinds || stored.length === 0 || known?.number !== number) return stored;
      const head = Math.max(known.seq, stored[0]?.seq ?? 0, stored.at(-1)?.seq ?? 0);
      return fillGaps(stored, { ...query, from, to: Math.min(to, head) });
    } catch (error) {
      if (!isDamagedPage(error)) throw error;
      const { seq: head } = cache.require(session);
      return this.#damaged.read(number, { ...query, from, to: Math.min(to, head) });
    }
  }

  peekHead(session: SessionId): Head | undefined {
    const { cache } = this.#deps;
    const hot = cache.peek(session);
    return hot && cache.confirm() ? { seq: hot.seq, at: hot.at } : undefined;
  }

  head(session: SessionId): Promise<Head> {
    const hot = this.peekHead(session);
    if (hot) return Promise.resolve(hot);
    return this.#db.read(() => {
      const { seq, at } = this.#deps.cache.require(session);
      return { seq, at };
    });
  }

  heads(query: { after?: number; limit: number }): Promise<readonly SessionHead[]> {
    return this.#db.read(() =>
      this.#heads.all(query.after ?? 0, query.limit).map((row) => ({
        session: row.id as string,
        createdAt: row.created_at as number,
        seq: row.head === null ? 0 : seqOfKey(row.head as number),
        place: row.number as number,
      })),
    );
  }

  version(): Promise<string> {
    return this.#db.read(() => `${this.#ownCommits} ${this.#db.dataVersion()}`);
  }

  seqAt(session: SessionId, at: number): Promise<number> {
    return this.#db.snapshot(() => {
      const state = this.#deps.cache.require(session);
      const lastKey = toEntryKey(state.number, state.seq);
      // Entries dated by a clock that ran ahead count with the time of the first correctly dated entry after them.
      const timeOf = (seq: number) =>
        this.#time.get(toEntryKey(state.number, seq), lastKey, state.at)?.at as number;
      return searchByTime(at, state, timeOf);
    });
  }

  async redact(session: SessionId, tombstones: readonly Tombstone[]): Promise<FreedCounts> {
    this.#ownCommits++;
    const freed = await this.#db.transact(() => {
      const { number } = this.#deps.cache.require(session);
      return this.#deps.eraser.redact(
        tombstones.map(({ seq, payload }) => ({ key: toEntryKey(number, seq), payload })),
      );
    });
    return { ...freed, scrubbed: await this.#db.emptyJournal() };
  }

  /** Caches one prepared statement per order and set of kinds; there are few. */
  #readStatement({ order, kinds }: EntryQuery): ReturnType<Database["prepare"]> {
    const name = `${order} ${kinds?.join() ?? "*"}`;
    let statement = this.#readStatements.get(name);
    if (!statement) {
      const filter = kinds ? `AND (${kinds.map((kind) => `kind = ${KIND_NUMBERS[kind]}`).join(" OR ")})` : "";
      const direction = order === "ascending" ? "ASC" : "DESC";
      statement = this.#db.prepare(
        `SELECT key, at, kind, payload FROM entries WHERE key BETWEEN ? AND ? ${filter} ORDER BY key ${direction} LIMIT ?`,
      );
      this.#readStatements.set(name, statement);
    }
    return statement;
  }
}

/** Ranges up to this size are bisected, because interpolation no longer helps. */
const NEAR = 8;

/**
 * The last seq whose time is at or before `at`, 0 if none. Times never decrease with seq and mostly grow linearly, so
 * each round interpolates, then steps from the guess towards the target until it is passed. This takes about twelve
 * reads among a million entries; every round at least halves the range.
 */
export function searchByTime(at: number, head: Head, timeOf: (seq: number) => number): number {
  if (head.seq === 0) return 0;
  if (at >= head.at) return head.seq;
  let low = 1;
  let lowAt = timeOf(low);
  if (at < lowAt) return 0;
  let high = head.seq;
  let highAt = head.at;

  /** Reads an entry between low and high and moves one bound there; returns whether it moved low. */
  const look = (seq: number): boolean => {
    const time = timeOf(seq);
    if (time <= at) {
      low = seq;
      lowAt = time;
      return true;
    }
    high = seq;
    highAt = time;
    return false;
  };

  while (high - low > NEAR) {
    const range = high - low;
    // Half a millisecond more, because the last of several entries with the same time is wanted.
    const share = (at + 0.5 - lowAt) / (highAt - lowAt);
    const guess = Math.min(Math.max(low + Math.floor(range * share), low + 1), high - 1);
    let step = Math.ceil(2 * Math.sqrt(range));
    if (look(guess)) while (low + step < high && look(low + step)) step *= 4;
    else while (high - step > low && !look(high - step)) step *= 4;
    if (high - low > range / 2) look((low + high) >>> 1);
  }
  while (high - low > 1) look((low + high) >>> 1);
  return low;
}

/** The tables that an append writes to, other than the entries. */
interface EntryWriterDeps {
  readonly cache: SessionCache;
  readonly sessions: SqliteSessions;
  readonly drafts: Drafts;
  readonly refs: BlobRefs;
  readonly holds: BlobHolds;
  readonly intakes: Intakes;
  readonly places: SqlitePlaces;
  readonly tasks: SqliteTasks;
  readonly clock: Clock;
}

/**
 * Executes appends within a write transaction. At its beginning the cache learns whether anybody else has written; from
 * then on cached heads are right, because the lock is held.
 */
export class EntryWriter {
  readonly #deps: EntryWriterDeps;
  readonly #insert;
  readonly #setLine;
  readonly #now = () => this.#deps.clock.now();
  /** The entries of this transaction, to keep in memory after its commit. */
  #written: StoredEntry[] = [];
  #writtenKeys: number[] = [];

  constructor(db: Database, near: EntryWriterDeps) {
    this.#deps = near;
    this.#insert = db.prepare("INSERT INTO entries (key, at, kind, payload) VALUES (?, ?, ?, ?)");
    this.#setLine = db.prepare("UPDATE sessions SET line_seq = ? WHERE number = ?");
  }

  /** Executes the appends of one transaction. */
  appendAll(requests: readonly AppendRequest[]): readonly AppendOutcome[] {
    this.#deps.cache.refresh();
    this.#written = [];
    this.#writtenKeys = [];
    const outcomes: AppendOutcome[] = [];
    for (const request of requests) outcomes.push(this.#append(request));
    return outcomes;
  }

  /** Must be called with each commit, before anything else runs. */
  readonly keepWritten = (): void => {
    const { hot } = this.#deps.cache;
    for (let index = 0; index < this.#written.length; index++)
      hot.add(this.#writtenKeys[index] as number, this.#written[index] as StoredEntry);
    this.#written = [];
    this.#writtenKeys = [];
  };

  /** Checks every reason for refusal before the first write, so that a refused request changes nothing. */
  #append(request: AppendRequest): AppendOutcome {
    try {
      for (const entry of request.entries) if (entry.blobs) this.#deps.refs.requireAll(entry.blobs);
      if (request.finishes !== undefined) this.#deps.drafts.require(request.finishes);
      if (request.task) this.#deps.tasks.check(request.task);
      const { intake } = request;
      const intakeNumber = intake && this.#deps.intakes.requireNew(intake);
      const appended = this.#write(request, this.#stateFor(request));
      if (intake) this.#deps.intakes.take(intakeNumber as number, intake, appended.firstSeq);
      if (request.task) this.#deps.tasks.apply(request.task, request.session, appended.firstSeq);
      return appended;
    } catch (error) {
      if (error instanceof LonghaulError) return error;
      throw error;
    }
  }

  #stateFor(request: AppendRequest): SessionState {
    const { cache, sessions } = this.#deps;
    const { session, expectedHead, create } = request;
    const state = cache.find(session);
    const headSeq = state?.seq ?? 0;
    if (expectedHead !== undefined && expectedHead !== headSeq) {
      throw createPositionConflict(session, expectedHead, headSeq);
    }
    checkSeqRoom(session, headSeq, request.entries.length);
    if (state) return state;
    if (create) sessions.openWithin(create);
    return cache.find(session) ?? throwSessionNotFound(session);
  }

  #write(request: AppendRequest, state: SessionState): AppendResult {
    const firstSeq = state.seq + 1;
    const ats: number[] = [];
    for (const entry of request.entries) {
      const seq = state.seq + 1;
      const at = chooseEntryTime(entry.at, state.at, this.#now);
      const key = toEntryKey(state.number, seq);
      this.#insert.run(key, at, KIND_NUMBERS[entry.kind], entry.payload);
      if (entry.blobs) this.#deps.refs.add(key, entry.blobs);
      if (entry.places) this.#deps.places.add(key, entry.places);
      if (entry.kind === "line") this.#setLineSeq(request.session, state.number, seq);
      state.seq = seq;
      state.at = at;
      ats.push(at);
      this.#written.push({ seq, at, kind: entry.kind, payload: entry.payload });
      this.#writtenKeys.push(key);
    }
    if (request.finishes !== undefined) this.#deps.drafts.deleteWithin(request.finishes);
    if (request.holds) for (const hold of request.holds) this.#deps.holds.release(hold);
    return { firstSeq, ats };
  }

  #setLineSeq(session: SessionId, number: number, seq: number): void {
    this.#setLine.run(seq, number);
    this.#deps.cache.records.forget(session);
  }
}
