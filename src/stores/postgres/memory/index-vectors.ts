import { readBodyHash } from "../../../log/store/chunk-body.ts";
import {
  type ChunkVector,
  SEGMENT_CHUNKS,
  type UnembeddedChunk,
  type VectorStore,
} from "../../../log/store/memory-store.ts";
import { segmentPlaceOf } from "../../../log/store/postings.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";
import { lockIndex } from "./index-state.ts";
import { packBytes } from "./packed-bytes.ts";
import type { ServedVectors } from "./server/served-vectors.ts";

/** Vectors in PostgreSQL, as bytes; the ranker compares them, as it does with the embedded store. */
export class IndexVectors implements VectorStore {
  readonly #db: PostgresDatabase;
  readonly #served: ServedVectors;

  constructor(db: PostgresDatabase, served: ServedVectors) {
    this.#db = db;
    this.#served = served;
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
    await this.#served.dropOthers(embedder);
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
