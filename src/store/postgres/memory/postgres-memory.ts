import type { SessionId } from "../../../model/entry.ts";
import type { ForgettingMemory } from "../../forgetting-stores.ts";
import type {
  ChunkBatch,
  IndexState,
  IndexTotals,
  MemoryStore,
  SourceKind,
  SourceName,
  TurnRange,
} from "../../memory-store.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";
import { IndexChunks } from "./index-chunks.ts";
import { IndexDictionary } from "./index-dictionary.ts";
import { IndexForgetter } from "./index-forgetter.ts";
import { IndexSegments } from "./index-segments.ts";
import { findSource, findSourcesByNumber, listSources, listSpeakers, readTotals } from "./index-sources.ts";
import { readIndexState } from "./index-state.ts";
import { IndexVectors } from "./index-vectors.ts";

/** Seq that stands for the whole session. */
const WHOLE = 0;

/** Tables of the index, for sizes and vacuums. */
const INDEX_TABLES = [
  "index_state",
  "sources",
  "speakers",
  "chunks",
  "terms",
  "segments",
  "postings",
  "embedders",
  "loose_vectors",
  "vectors",
  "embeddings",
  "erasures",
] as const;

/** The index in PostgreSQL. */
export class PostgresMemory implements MemoryStore, ForgettingMemory {
  readonly vectors: IndexVectors;
  readonly exists = true;
  readonly #db: PostgresDatabase;
  readonly #dictionary = new IndexDictionary();
  readonly #chunks: IndexChunks;
  readonly #segments: IndexSegments;
  readonly #forgetter: IndexForgetter;

  constructor(db: PostgresDatabase) {
    this.#db = db;
    this.vectors = new IndexVectors(db);
    this.#chunks = new IndexChunks(db, this.#dictionary);
    this.#segments = new IndexSegments(db, this.#chunks);
    this.#forgetter = new IndexForgetter(db, this.#chunks);
  }

  /** Approximate bytes of the caches in memory. */
  cacheBytes(): number {
    return this.#dictionary.sizeBytes + this.#chunks.cachedBytes;
  }

  dropCaches(): void {
    this.#dictionary.clear();
    this.#chunks.dropCache();
  }

  source(name: SourceName) {
    return findSource(this.#db, name);
  }

  sourcesByNumber(numbers: readonly number[]) {
    return findSourcesByNumber(this.#db, numbers);
  }

  sources(query: { kind?: SourceKind; root?: string; after?: number; limit: number }) {
    return listSources(this.#db, query);
  }

  add(batch: ChunkBatch): Promise<boolean> {
    return this.#chunks.add(batch);
  }

  forget(source: SourceName, seqs?: readonly number[]): Promise<number> {
    return this.#forgetter.forget(source, seqs);
  }

  async expectErasure(session: SessionId, seqs: readonly number[] = [WHOLE]): Promise<void> {
    await this.#db.query(
      "INSERT INTO @erasures (session, seq) SELECT $1, seq FROM unnest($2::int[]) AS s (seq) ON CONFLICT DO NOTHING",
      [session, seqs],
    );
  }

  async expectedErasures(limit: number) {
    const rows = await this.#db.query("SELECT session, seq FROM @erasures ORDER BY session, seq LIMIT $1", [
      limit,
    ]);
    return rows.map((row) => ({
      session: row.session as string,
      ...(row.seq !== WHOLE && { seq: row.seq as number }),
    }));
  }

  async settleErasure(session: SessionId, seqs: readonly number[] = [WHOLE]): Promise<void> {
    await this.#db.query("DELETE FROM @erasures WHERE session = $1 AND seq = ANY($2::int[])", [
      session,
      seqs,
    ]);
  }

  state(): Promise<IndexState> {
    return readIndexState(this.#db);
  }

  totals(): Promise<IndexTotals> {
    return readTotals(this.#db);
  }

  speakers(limit: number): Promise<readonly string[]> {
    return listSpeakers(this.#db, limit);
  }

  chunks(numbers: readonly number[]) {
    return this.#chunks.get(numbers);
  }

  around(wanted: readonly { readonly number: number; readonly reach: number }[], limit: number) {
    return this.#chunks.around(wanted, limit);
  }

  turns(ranges: readonly TurnRange[], limit: number) {
    return this.#chunks.turns(ranges, limit);
  }

  standing(limit: number): Promise<readonly number[]> {
    return this.#chunks.standing(limit);
  }

  inPeriod(fromMs: number, toMs: number, limit: number): Promise<readonly number[]> {
    return this.#chunks.inPeriod(fromMs, toMs, limit);
  }

  async termNumbers(terms: readonly string[]): Promise<ReadonlyMap<string, number>> {
    this.#dictionary.refresh((await readIndexState(this.#db)).stamp);
    return this.#dictionary.numbersOf(this.#db, terms);
  }

  tail(from: number, limit: number) {
    return this.#chunks.termsFrom(this.#db, from, limit);
  }

  postings(terms: readonly number[], count: number) {
    return this.#segments.postings(terms, count);
  }

  segmentSources(segment: number): Promise<Uint32Array> {
    return this.#segments.sources(segment);
  }

  seal(): Promise<boolean> {
    return this.#segments.seal();
  }

  async sizeBytes(): Promise<number> {
    const [row] = await this.#db.query(
      `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY($2::text[])`,
      [this.#db.schema, [...INDEX_TABLES]],
    );
    return row?.bytes as number;
  }

  /** The server overwrites deleted rows by itself. */
  async scrub(): Promise<boolean> {
    return true;
  }

  async vacuum(): Promise<void> {
    for (const table of INDEX_TABLES) await this.#db.command(`VACUUM @${table}`);
  }
}
