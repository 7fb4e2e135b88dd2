import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import {
  type ChunkBatch,
  type IndexState,
  type IndexTotals,
  type MemoryStore,
  type PostingsRow,
  SEGMENT_CHUNKS,
  type SourceKind,
  type SourceName,
  type TurnRange,
  type VectorStore,
} from "../../../log/store/memory-store.ts";
import { PostingsBuilder, segmentPlaceOf } from "../../../log/store/postings.ts";
import type { SessionId } from "../../../model/entry.ts";
import { type ErrorCode, isLonghaulError, LonghaulError } from "../../../model/errors.ts";
import { connectDatabase } from "../connect-database.ts";
import type { Database } from "../database.ts";
import { prepareValues } from "../value-rows.ts";
import { ChunkRows } from "./chunk-rows.ts";
import { Dictionary } from "./dictionary.ts";
import { Forgetter } from "./forgetter.ts";
import { MEMORY_MIGRATIONS } from "./memory-migrations.ts";
import { Sources } from "./sources.ts";
import { Vectors } from "./vectors.ts";

/** Larger than the log's: the index is written in batches and read in ranges. */
const PAGE_BYTES = 4096;

/** Enough for the upper levels of the trees at a million chunks. */
const CACHE_KIB = 16_384;

/** Errors after which the index is replaced by a new one. */
const REPLACE_CODES: readonly ErrorCode[] = ["STORE_CORRUPT", "STORE_FOREIGN", "SCHEMA_TOO_NEW"];

interface Tables {
  readonly db: Database;
  readonly sources: Sources;
  readonly dictionary: Dictionary;
  readonly chunks: ChunkRows;
  readonly segments: Segments;
  readonly forgetter: Forgetter;
  readonly erasures: Erasures;
  readonly vectors: Vectors;
}

/** Rows read or written before yielding to other work. */
const ROWS_PER_STEP = 2_048;

/** The index in its own database file, opened on first use; a damaged file is moved aside. */
export class SqliteMemory implements MemoryStore {
  readonly vectors: VectorStore;
  readonly #path: string;
  readonly #busyTimeoutMs: number;
  #prepare: () => void;
  readonly #openReadOnly: (() => Promise<Database>) | undefined;
  #opening: Promise<Tables> | undefined;
  /** The tables, once they are open. */
  #tables: Tables | undefined;
  #isClosed = false;

  /** `prepare` is called before the file is first opened; `open` opens an index that is only read. */
  constructor(
    path: string,
    busyTimeoutMs: number,
    prepare: () => void = () => undefined,
    open?: () => Promise<Database>,
  ) {
    this.#path = path;
    this.#prepare = prepare;
    this.#openReadOnly = open;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.vectors = {
      embedder: (id, dimensions) => this.#use(({ vectors }) => vectors.embedder(id, dimensions)),
      missing: (embedder, after, limit) =>
        this.#use(({ vectors }) => vectors.missing(embedder, after, limit)),
      write: (embedder, rows) => this.#use(({ vectors }) => vectors.write(embedder, rows)),
      loose: (embedder, after, limit) => this.#use(({ vectors }) => vectors.loose(embedder, after, limit)),
      pack: (embedder, segment) => this.#use(({ vectors }) => vectors.pack(embedder, segment)),
      packed: (embedder) => this.#use(({ vectors }) => vectors.packed(embedder)),
      read: (embedder, segment) => this.#use(({ vectors }) => vectors.read(embedder, segment)),
      dropOthers: (embedder) => this.#use(({ vectors }) => vectors.dropOthers(embedder)),
      cached: (embedder, hashes) => this.#use(({ vectors }) => vectors.cached(embedder, hashes)),
      cache: (embedder, entries) => this.#use(({ vectors }) => vectors.cache(embedder, entries)),
    };
  }

  /** False if nothing was ever indexed, so there is nothing to forget. */
  get exists(): boolean {
    return this.#opening !== undefined || (this.#path !== ":memory:" && existsSync(this.#path));
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  /** Approximate bytes of the caches in memory. */
  cacheBytes(): number {
    return this.#tables ? this.#tables.dictionary.sizeBytes + this.#tables.chunks.cachedBytes : 0;
  }

  dropCaches(): void {
    this.#tables?.dictionary.clear();
    this.#tables?.chunks.dropCache();
    this.#tables?.db.shrink();
  }

  source(name: SourceName) {
    return this.#use(({ db, sources }) => db.read(() => sources.find(name)));
  }

  sourcesByNumber(numbers: readonly number[]) {
    return this.#use(({ db, sources }) =>
      db.snapshot(() => numbers.flatMap((number) => sources.byNumber(number) ?? [])),
    );
  }

  sources(query: { kind?: SourceKind; root?: string; after?: number; limit: number }) {
    return this.#use(({ db, sources }) => db.read(() => sources.list(query)));
  }

  add(batch: ChunkBatch): Promise<boolean> {
    return this.#use(({ chunks }) => chunks.add(batch));
  }

  forget(source: SourceName, seqs?: readonly number[]): Promise<number> {
    return this.#use(({ forgetter }) => forgetter.forget(source, seqs));
  }

  expectErasure(session: SessionId, seqs?: readonly number[]): Promise<void> {
    return this.#use(({ erasures }) => erasures.expect(session, seqs));
  }

  expectedErasures(limit: number) {
    return this.#use(({ erasures }) => erasures.list(limit));
  }

  settleErasure(session: SessionId, seqs?: readonly number[]): Promise<void> {
    return this.#use(({ erasures }) => erasures.settle(session, seqs));
  }

  state(): Promise<IndexState> {
    return this.#use(({ db, segments }) => db.snapshot(() => segments.state()));
  }

  totals(): Promise<IndexTotals> {
    return this.#use(({ db, sources }) => db.read(() => sources.totals()));
  }

  speakers(limit: number): Promise<readonly string[]> {
    return this.#use(({ db, sources }) => db.read(() => sources.speakers(limit)));
  }

  chunks(numbers: readonly number[]) {
    return this.#use(({ chunks }) => chunks.get(numbers));
  }

  around(numbers: readonly { readonly number: number; readonly reach: number }[], limit: number) {
    return this.#use(({ chunks }) => chunks.around(numbers, limit));
  }

  turns(ranges: readonly TurnRange[], limit: number) {
    return this.#use(({ chunks }) => chunks.turns(ranges, limit));
  }

  standing(limit: number): Promise<readonly number[]> {
    return this.#use(({ db, chunks }) => db.read(() => chunks.standing(limit)));
  }

  inPeriod(fromMs: number, toMs: number, limit: number): Promise<readonly number[]> {
    return this.#use(({ db, chunks }) => db.read(() => chunks.inPeriod(fromMs, toMs, limit)));
  }

  decisions(limit: number, skipped: number): Promise<readonly number[]> {
    return this.#use(({ db, chunks }) => db.read(() => chunks.decisions(limit, skipped)));
  }

  termNumbers(terms: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#use(({ db, dictionary }) =>
      db.snapshot(() => {
        dictionary.refresh();
        const known = new Map<string, number>();
        for (const term of terms) {
          const number = dictionary.numberOf(term);
          if (number !== undefined) known.set(term, number);
        }
        return known;
      }),
    );
  }

  tail(from: number, limit: number) {
    return this.#use(({ db, chunks }) => db.read(() => chunks.termsFrom(from, limit)));
  }

  postings(terms: readonly number[], count: number) {
    return this.#use(({ segments }) => segments.postings(terms, count));
  }

  segmentSources(segment: number): Promise<Uint32Array> {
    return this.#use(({ segments }) => segments.sources(segment));
  }

  seal(): Promise<boolean> {
    return this.#use(({ segments }) => segments.seal());
  }

  async sizeBytes(): Promise<number> {
    const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return this.#path === ":memory:" ? 0 : sizeOf(this.#path) + sizeOf(`${this.#path}-wal`);
  }

  /** Checks the structure of an existing index and returns the problems found. */
  async verify(): Promise<readonly string[]> {
    return this.exists ? this.#use(({ db }) => db.verify("quick_check", 10)) : [];
  }

  /** Truncates the journal, which still contains forgotten content; returns false if a reader prevented that. */
  scrub(): Promise<boolean> {
    return this.#use(({ db }) => db.emptyJournal());
  }

  async vacuum(): Promise<void> {
    if (!this.exists) return;
    await this.#use(async ({ db }) => {
      await db.exec("VACUUM");
      await db.emptyJournal();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#tables = undefined;
    const tables = await this.#opening?.catch(() => undefined);
    tables?.db.close();
  }

  async #use<T>(work: (tables: Tables) => Promise<T>): Promise<T> {
    const opening = this.#open();
    try {
      return await work(await opening);
    } catch (error) {
      const isKept = this.#path === ":memory:" || this.#openReadOnly !== undefined;
      if (!isLonghaulError(error, "STORE_CORRUPT") || isKept) throw error;
      // The index is derived, so a damaged one is moved aside and rebuilt.
      if (this.#opening === opening) {
        this.#opening = undefined;
        (await opening.catch(() => undefined))?.db.close();
        this.#putAside();
      }
      return work(await this.#open());
    }
  }

  #open(): Promise<Tables> {
    if (this.#isClosed) throw new LonghaulError("CLOSED", "This store is closed; open a new one.");
    this.#opening ??= this.#connect();
    this.#opening.catch(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connect(): Promise<Tables> {
    if (this.#openReadOnly) return this.#hold(await this.#openReadOnly());
    this.#prepare();
    this.#prepare = () => undefined;
    const options = {
      // If the machine crashes, the last batches are indexed again.
      durability: "process",
      busyTimeoutMs: this.#busyTimeoutMs,
      migrations: MEMORY_MIGRATIONS,
      pageBytes: PAGE_BYTES,
      cacheKib: CACHE_KIB,
    } as const;
    try {
      return this.#hold(await connectDatabase(this.#path, options));
    } catch (error) {
      if (!REPLACE_CODES.some((code) => isLonghaulError(error, code))) throw error;
      this.#putAside();
      return this.#hold(await connectDatabase(this.#path, options));
    }
  }

  #hold(db: Database): Tables {
    this.#tables = createTables(db);
    return this.#tables;
  }

  #putAside(): void {
    this.#tables = undefined;
    for (const ending of ["-wal", "-shm"]) rmSync(`${this.#path}${ending}`, { force: true });
    if (existsSync(this.#path)) renameSync(this.#path, `${this.#path}.aside`);
  }
}

function createTables(db: Database): Tables {
  const sources = new Sources(db);
  const dictionary = new Dictionary(db);
  const chunks = new ChunkRows(db, sources, dictionary);
  return {
    db,
    sources,
    dictionary,
    chunks,
    segments: new Segments(db, chunks),
    forgetter: new Forgetter(db, sources, chunks),
    erasures: new Erasures(db),
    vectors: new Vectors(db),
  };
}

/** Seq that stands for the whole session. */
const WHOLE = 0;

/** Records of pending erasures from the log, so that a crash in between cannot leave their chunks. */
class Erasures {
  readonly #db: Database;
  readonly #statements;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = {
      add: db.prepare("INSERT OR IGNORE INTO erasures (session, seq) VALUES (?, ?)"),
      list: db.prepare("SELECT session, seq FROM erasures LIMIT ?"),
      remove: db.prepare("DELETE FROM erasures WHERE session = ? AND seq = ?"),
    };
  }

  async expect(session: SessionId, seqs: readonly number[] = [WHOLE]): Promise<void> {
    await this.#db.transact(() => {
      for (const seq of seqs) this.#statements.add.run(session, seq);
    });
  }

  list(limit: number): Promise<{ session: SessionId; seq?: number }[]> {
    return this.#db.read(() =>
      this.#statements.list.all(limit).map((row) => ({
        session: row.session as string,
        ...(row.seq !== WHOLE && { seq: row.seq as number }),
      })),
    );
  }

  async settle(session: SessionId, seqs: readonly number[] = [WHOLE]): Promise<void> {
    await this.#db.transact(() => {
      for (const seq of seqs) this.#statements.remove.run(session, seq);
    });
  }
}

/** Sealed segments, and sealing of the next one. */
class Segments {
  readonly #db: Database;
  readonly #chunks: ChunkRows;
  readonly #statements;

  constructor(db: Database, chunks: ChunkRows) {
    this.#db = db;
    this.#chunks = chunks;
    this.#statements = {
      sealed: db.prepare("SELECT coalesce(max(number) + 1, 0) AS count FROM segments"),
      stamp: db.prepare("SELECT value FROM stamp"),
      insert: db.prepare("INSERT INTO segments (number, sources) VALUES (?, ?)"),
      sources: db.prepare("SELECT sources FROM segments WHERE number = ?"),
      put: db.prepare("INSERT OR REPLACE INTO postings (segment, term, chunks) VALUES (?, ?, ?)"),
      postings: prepareValues(db, "SELECT chunks FROM postings WHERE segment = ? AND term = ?"),
    };
  }

  /** Must be called within a read. */
  state(): IndexState {
    return {
      lastChunk: this.#chunks.last(),
      sealed: this.#statements.sealed.get()?.count as number,
      stamp: this.#statements.stamp.get()?.value as number,
    };
  }

  postings(terms: readonly number[], segments: number): Promise<PostingsRow[]> {
    return this.#db.snapshot(() => {
      const rows: PostingsRow[] = [];
      for (let segment = 0; segment < segments; segment++) {
        for (const term of terms) {
          const row = this.#statements.postings.get(segment, term);
          if (row) rows.push({ segment, term, postings: row[0] as Uint8Array });
        }
      }
      return rows;
    });
  }

  sources(segment: number): Promise<Uint32Array> {
    return this.#db.read(() => {
      const bytes = this.#statements.sources.get(segment)?.sources as Uint8Array | undefined;
      return bytes ? new Uint32Array(bytes.slice().buffer) : new Uint32Array(SEGMENT_CHUNKS);
    });
  }

  /**
   * Works in steps between which others can work. Every write step checks that nothing was removed since the chunks
   * were read and that no other process has sealed the segment: postings never outlive their chunks.
   */
  async seal(): Promise<boolean> {
    const before = await this.#db.snapshot(() => this.state());
    const segment = before.sealed;
    const first = segment * SEGMENT_CHUNKS;
    if (before.lastChunk < first + SEGMENT_CHUNKS - 1) return false;
    const maker = new PostingsBuilder();
    const sources = new Uint32Array(SEGMENT_CHUNKS);
    for (let from = first; from < first + SEGMENT_CHUNKS; from += ROWS_PER_STEP) {
      const rows = await this.#db.read(() => this.#chunks.termsFrom(from, ROWS_PER_STEP));
      for (const { number, source, terms } of rows) {
        if (number >= from + ROWS_PER_STEP) break;
        maker.add(segmentPlaceOf(number), terms);
        sources[segmentPlaceOf(number)] = source;
      }
      await setImmediate();
    }
    const isStill = () => {
      const now = this.state();
      return now.sealed === segment && now.stamp === before.stamp;
    };
    const postings = maker.postings();
    for (;;) {
      // Collected before the transaction, which is retried while others write.
      const rows: Omit<PostingsRow, "segment">[] = [];
      while (rows.length < ROWS_PER_STEP) {
        const next = postings.next();
        if (next.done) break;
        rows.push(next.value);
      }
      if (rows.length === 0) break;
      const went = await this.#db.transact(() => {
        if (!isStill()) return false;
        for (const row of rows) this.#statements.put.run(segment, row.term, row.postings);
        return true;
      });
      if (!went) return true;
      await setImmediate();
    }
    await this.#db.transact(() => {
      if (isStill()) this.#statements.insert.run(segment, new Uint8Array(sources.buffer));
    });
    return true;
  }
}
