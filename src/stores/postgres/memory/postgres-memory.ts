import { isDeepStrictEqual } from "node:util";
import { readBodyHash } from "../../../log/store/chunk-body.ts";
import type { ForgettingMemory } from "../../../log/store/forgetting-stores.ts";
import {
  type ChunkBatch,
  type ChunkVector,
  type IndexState,
  type IndexTotals,
  type MemoryStore,
  SEGMENT_CHUNKS,
  type SourceConditions,
  type SourceKind,
  type SourceName,
  type TurnRange,
  type UnembeddedChunk,
  type VectorStore,
} from "../../../log/store/memory-store.ts";
import { segmentPlaceOf } from "../../../log/store/postings.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { Json } from "../../../model/json.ts";
import type { PostgresDatabase, Sql } from "../connection/postgres-database.ts";
import type { SqlRow, SqlValue } from "../connection/sql-values.ts";
import { IndexChunks } from "./index-chunks.ts";
import { IndexDictionary } from "./index-dictionary.ts";
import { IndexForgetter } from "./index-forgetter.ts";
import { IndexSegments } from "./index-segments.ts";
import { findSource, findSourcesByNumber, listSources, listSpeakers, readTotals } from "./index-sources.ts";
import { lockIndex, readIndexState } from "./index-state.ts";
import { packBytes } from "./packed-bytes.ts";

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

  postings(terms: readonly number[], count: number) {
    return this.#segments.postings(terms, count);
  }

  segmentSources(segment: number): Promise<Uint32Array> {
    return this.#segments.sources(segment);
  }

  seal(): Promise<boolean> {
    return this.#segments.seal();
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

/** Vectors in PostgreSQL, as bytes; the ranker compares them, as it does with the embedded store. */
class IndexVectors implements VectorStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  async embedder(id: string, dimensions: number): Promise<number> {
    const find = async () =>
      (await this.#db.query("SELECT number FROM @embedders WHERE id = $1", [id]))[0]?.number as
        | number
        | undefined;
    const known = await find();
    if (known !== undefined) return known;
    await this.#db.query(
      "INSERT INTO @embedders (id, dimensions) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
      [id, dimensions],
    );
    return (await find()) as number;
  }

  async missing(embedder: number, after: number, limit: number): Promise<readonly UnembeddedChunk[]> {
    const rows = await this.#db.query(
      `SELECT number, source, seq, part, start, stop, body FROM @chunks c WHERE number > $2
         AND NOT EXISTS (SELECT 1 FROM @loose_vectors l WHERE l.embedder = $1 AND l.chunk = c.number)
         AND NOT EXISTS (SELECT 1 FROM @vectors v WHERE v.embedder = $1 AND v.segment = c.number / ${SEGMENT_CHUNKS})
       ORDER BY number LIMIT $3`,
      [embedder, after, limit],
    );
    return rows.map((row) => ({
      number: row.number as number,
      source: row.source as number,
      seq: row.seq as number,
      part: row.part as number,
      from: row.start as number,
      to: row.stop as number,
      hash: readBodyHash(row.body as Uint8Array),
    }));
  }

  async write(embedder: number, vectors: readonly ChunkVector[]): Promise<void> {
    // Only for existing chunks: a chunk may have been forgotten while its text was being embedded.
    await this.#db.transact(async (transaction) => {
      await lockIndex(transaction);
      await transaction.query(
        `INSERT INTO @loose_vectors (embedder, chunk, vector)
         SELECT $1, c.number, substr($5::bytea, v.start, v.size)
         FROM unnest($2::bigint[], $3::int[], $4::int[]) AS v (chunk, start, size) JOIN @chunks c ON c.number = v.chunk
         ON CONFLICT (embedder, chunk) DO UPDATE SET vector = excluded.vector`,
        [
          embedder,
          vectors.map(({ chunk }) => chunk),
          ...packBytes(vectors.map(({ vector }) => toVectorBytes(vector))),
        ],
      );
    });
  }

  async loose(embedder: number, after: number, limit: number): Promise<readonly ChunkVector[]> {
    const rows = await this.#db.query(
      "SELECT chunk, vector FROM @loose_vectors WHERE embedder = $1 AND chunk > $2 ORDER BY chunk LIMIT $3",
      [embedder, after, limit],
    );
    return rows.map(toChunkVector);
  }

  async pack(embedder: number, segment: number): Promise<boolean> {
    const [first, last] = [segment * SEGMENT_CHUNKS, (segment + 1) * SEGMENT_CHUNKS - 1];
    return this.#db.transact(async (transaction) => {
      await lockIndex(transaction);
      const [lacking] = await transaction.query(
        `SELECT 1 FROM @chunks c WHERE number BETWEEN $2 AND $3
           AND NOT EXISTS (SELECT 1 FROM @loose_vectors l WHERE l.embedder = $1 AND l.chunk = c.number) LIMIT 1`,
        [embedder, first, last],
      );
      if (lacking) return false;
      const rows = await transaction.query(
        "DELETE FROM @loose_vectors WHERE embedder = $1 AND chunk BETWEEN $2 AND $3 RETURNING chunk, vector",
        [embedder, first, last],
      );
      const loose = rows.map(toChunkVector);
      const dimensions = loose[0]?.vector.length ?? 0;
      const vectors = new Int8Array(SEGMENT_CHUNKS * dimensions);
      for (const { chunk, vector } of loose) vectors.set(vector, segmentPlaceOf(chunk) * dimensions);
      await transaction.query(
        "INSERT INTO @vectors (embedder, segment, vectors) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        [embedder, segment, toVectorBytes(vectors)],
      );
      return true;
    });
  }

  async packed(embedder: number): Promise<readonly number[]> {
    const rows = await this.#db.query("SELECT segment FROM @vectors WHERE embedder = $1 ORDER BY segment", [
      embedder,
    ]);
    return rows.map(({ segment }) => segment as number);
  }

  async read(embedder: number, segment: number): Promise<Int8Array | undefined> {
    const [row] = await this.#db.query("SELECT vectors FROM @vectors WHERE embedder = $1 AND segment = $2", [
      embedder,
      segment,
    ]);
    return row && toVector(row.vectors as Uint8Array);
  }

  async dropOthers(embedder: number): Promise<void> {
    const [others] = await this.#db.query(
      `SELECT 1 WHERE EXISTS (SELECT 1 FROM @loose_vectors WHERE embedder < $1 OR embedder > $1)
         OR EXISTS (SELECT 1 FROM @vectors WHERE embedder < $1 OR embedder > $1)`,
      [embedder],
    );
    if (!others) return;
    await this.#db.query("DELETE FROM @loose_vectors WHERE embedder <> $1", [embedder]);
    await this.#db.query("DELETE FROM @vectors WHERE embedder <> $1", [embedder]);
  }

  async cached(embedder: number, hashes: readonly Uint8Array[]): Promise<readonly (Int8Array | undefined)[]> {
    const rows = await this.#db.query(
      "SELECT encode(hash, 'hex') AS hash, vector FROM @embeddings WHERE embedder = $1 AND hash = ANY($2::bytea[])",
      [embedder, hashes],
    );
    const found = new Map(rows.map(({ hash, vector }) => [hash as string, toVector(vector as Uint8Array)]));
    return hashes.map((hash) => found.get(Buffer.from(hash).toString("hex")));
  }

  async cache(
    embedder: number,
    entries: readonly { readonly hash: Uint8Array; readonly vector: Int8Array }[],
  ): Promise<void> {
    // The last of equal hashes counts, and one statement must not write a row twice. One order for all avoids deadlocks.
    const byHash = new Map(entries.map(({ hash, vector }) => [Buffer.from(hash).toString("hex"), vector]));
    const hashes = [...byHash.keys()].sort();
    await this.#db.query(
      `INSERT INTO @embeddings (embedder, hash, vector)
       SELECT $1, decode(hash, 'hex'), substr($5::bytea, start, size)
       FROM unnest($2::text[], $3::int[], $4::int[]) AS v (hash, start, size)
       ON CONFLICT (embedder, hash) DO UPDATE SET vector = excluded.vector`,
      [embedder, hashes, ...packBytes(hashes.map((hash) => toVectorBytes(byHash.get(hash) as Int8Array)))],
    );
  }
}

function toChunkVector(row: SqlRow): ChunkVector {
  return { chunk: row.chunk as number, vector: toVector(row.vector as Uint8Array) };
}

function toVector(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function toVectorBytes(vector: Int8Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
