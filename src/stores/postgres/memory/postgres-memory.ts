import { isDeepStrictEqual } from "node:util";
import type { ForgettingMemory } from "../../../log/store/forgetting-stores.ts";
import type { IndexServer } from "../../../log/store/index-server.ts";
import type {
  ChunkBatch,
  IndexState,
  IndexTotals,
  MemoryStore,
  SourceConditions,
  SourceKind,
  SourceName,
  TurnRange,
} from "../../../log/store/memory-store.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { Json } from "../../../model/json.ts";
import type { RecallPlace } from "../connection/connection-url.ts";
import type { PostgresDatabase, Sql } from "../connection/postgres-database.ts";
import type { SqlValue } from "../connection/sql-values.ts";
import { IndexChunks } from "./index-chunks.ts";
import { IndexDictionary } from "./index-dictionary.ts";
import { IndexForgetter } from "./index-forgetter.ts";
import { IndexSegments } from "./index-segments.ts";
import { findSource, findSourcesByNumber, listSources, listSpeakers, readTotals } from "./index-sources.ts";
import { readIndexState } from "./index-state.ts";
import { IndexVectors } from "./index-vectors.ts";
import { ServedVectors } from "./server/served-vectors.ts";
import { ServedWords, WordSearch } from "./server/word-search.ts";

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
  "chunk_words",
  "loose_vectors",
  "vectors",
  "embeddings",
  "erasures",
] as const;

/**
 * Sealed segments from which on the server searches, 262,144 chunks. Below, the packed form is faster: it takes no more
 * than the postings of the question's words. Above, these postings take megabytes for each question, and the numbers of
 * sources and the vectors fill the memory of each program.
 */
const SERVED_FROM: Readonly<Record<RecallPlace, number>> = {
  memory: Number.POSITIVE_INFINITY,
  server: 1,
  auto: 32,
};

/** The index in PostgreSQL. */
export class PostgresMemory implements MemoryStore, ForgettingMemory {
  readonly vectors: IndexVectors;
  readonly exists = true;
  readonly #db: PostgresDatabase;
  readonly #dictionary = new IndexDictionary();
  readonly #chunks: IndexChunks;
  readonly #segments: IndexSegments;
  readonly #forgetter: IndexForgetter;
  readonly #servedWords: ServedWords;
  readonly #servedVectors: ServedVectors;
  readonly #isServed: boolean;
  readonly server: IndexServer;

  constructor(db: PostgresDatabase, recall: RecallPlace) {
    this.#db = db;
    const minSegments = SERVED_FROM[recall];
    this.#servedVectors = new ServedVectors(db, minSegments);
    this.vectors = new IndexVectors(db, this.#servedVectors);
    this.#chunks = new IndexChunks(db, this.#dictionary);
    this.#segments = new IndexSegments(db, this.#chunks);
    this.#forgetter = new IndexForgetter(db, this.#chunks, this.#servedVectors);
    this.#servedWords = new ServedWords(db, this.#chunks, minSegments);
    const words = new WordSearch(db);
    const vectors = this.#servedVectors;
    this.server = {
      countChunks: (terms, segments) => words.countChunks(terms, segments),
      findByTerms: (query) => words.find(query),
      servedVectors: (embedder) => vectors.served(embedder),
      findByVector: (query) => vectors.find(query),
      products: (embedder, vector, chunks) => vectors.products(embedder, vector, chunks),
      standing: (limit, filter) => this.#chunks.standing(limit, filter),
      inPeriod: (fromMs, toMs, limit, filter) => this.#chunks.inPeriod(fromMs, toMs, limit, filter),
    };
    this.#isServed = recall !== "memory";
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

  /** Another program may have filled the words: one that searches in memory does not use them. */
  async state(): Promise<IndexState> {
    const state = await readIndexState(this.#db);
    return this.#isServed ? state : { ...state, served: 0 };
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

  decisions(limit: number, skipped: number): Promise<readonly number[]> {
    return this.#chunks.decisions(limit, skipped);
  }

  async termNumbers(terms: readonly string[]): Promise<ReadonlyMap<string, number>> {
    this.#dictionary.refresh((await readIndexState(this.#db)).stamp);
    return this.#dictionary.numbersOf(this.#db, terms);
  }

  tail(from: number, limit: number) {
    return this.#chunks.termsFrom(this.#db, from, limit);
  }

  postings(terms: readonly number[], count: number, from?: number) {
    return this.#segments.postings(terms, count, from);
  }

  segmentSources(segment: number): Promise<Uint32Array> {
    return this.#segments.sources(segment);
  }

  /** Seals a segment, or prepares one for the search on the server. */
  async seal(): Promise<boolean> {
    if (await this.#segments.seal()) return true;
    if (!this.#isServed) return false;
    return (await this.#servedWords.fillNext()) || (await this.#servedVectors.fillNext());
  }

  sessionsInScope(conditions: SourceConditions): Promise<readonly number[]> {
    return listSessionsInScope(this.#db, conditions);
  }

  async sizeBytes(): Promise<number> {
    const [row] = await this.#db.query(
      `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY($2::text[])`,
      [this.#db.schema, [...INDEX_TABLES]],
    );
    return row?.bytes as number;
  }

  /** Deleted rows stay in the server's files until a vacuum rewrites them. */
  async scrub(): Promise<boolean> {
    return false;
  }

  async vacuum(): Promise<void> {
    for (const table of INDEX_TABLES) await this.#db.command(`VACUUM FULL @${table}`);
  }
}

/** Sorts after every character of a name. */
const LAST = "\u{10ffff}";

/** The numbers of indexed sessions that meet all conditions, in one statement. */
async function listSessionsInScope(
  sql: Sql,
  { names, prefix, prefixes, meta, owners }: SourceConditions,
): Promise<readonly number[]> {
  const values: SqlValue[] = [];
  const add = (value: SqlValue) => `$${values.push(value)}`;
  const startsWith = (start: string) =>
    start === "" ? "true" : `(s.name >= ${add(start)} AND s.name < ${add(start + LAST)})`;
  const filters = ["s.kind = 1"];
  if (names) filters.push(`s.name = ANY(${add(names)}::text[])`);
  if (prefix) filters.push(startsWith(prefix));
  if (prefixes) filters.push(prefixes.length === 0 ? "false" : `(${prefixes.map(startsWith).join(" OR ")})`);
  if (owners) {
    const parts = owners.map((owner) => (owner.endsWith("/") ? startsWith(owner) : `s.name = ${add(owner)}`));
    filters.push(parts.length === 0 ? "false" : `(${parts.join(" OR ")})`);
  }
  const wanted = Object.entries(meta ?? {});
  // Metadata is stored as JSON.stringify writes it, so that a plain value can be looked for in the text.
  for (const [key, value] of wanted)
    if (typeof value !== "object")
      filters.push(`strpos(e.meta, ${add(`${JSON.stringify(key)}:${JSON.stringify(value)}`)}) > 0`);
  const rows = await sql.query(
    `SELECT s.number${meta ? ", e.meta" : ""} FROM @sources s ${meta ? "JOIN @sessions e ON e.id = s.name" : ""}
     WHERE ${filters.join(" AND ")}`,
    values,
  );
  return rows.filter(({ meta: own }) => hasValues(own, wanted)).map(({ number }) => number as number);
}

function hasValues(text: unknown, wanted: readonly (readonly [string, Json])[]): boolean {
  if (wanted.length === 0) return true;
  const own = typeof text === "string" ? (JSON.parse(text) as Record<string, Json>) : {};
  return wanted.every(([key, value]) => isDeepStrictEqual(own[key], value));
}
