import type {
  AppendOutcome,
  AppendRequest,
  EntryQuery,
  EntryStore,
  Head,
  SessionHead,
  StoredEntry,
  Tombstone,
} from "../../log/store/entry-store.ts";
import type { FreedCounts } from "../../log/store/freed-counts.ts";
import { toKindNumber } from "../../log/store/kind-numbers.ts";
import { MAX_SEQ } from "../../log/store/seq-limit.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Database } from "./database.ts";
import { seqOfKey, toEntryKey } from "./entry-key.ts";
import type { EntryWriter } from "./entry-writer.ts";
import type { Eraser } from "./eraser.ts";
import { DamagedPageReader, fillGaps, isDamagedPage, toStored } from "./read-around-damage.ts";
import type { SessionCache } from "./session-cache.ts";

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
    const outcomes = await this.#db.transactBeside(
      () => writer.appendAll(requests),
      () => writer.keepWritten(),
    );
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
      const filter = kinds ? `AND (${kinds.map((kind) => `kind = ${toKindNumber(kind)}`).join(" OR ")})` : "";
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
