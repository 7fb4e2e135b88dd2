import { readBodyHash } from "../../../log/store/chunk-body.ts";
import {
  type ChunkVector,
  SEGMENT_CHUNKS,
  type UnembeddedChunk,
  type VectorStore,
} from "../../../log/store/memory-store.ts";
import { segmentPlaceOf } from "../../../log/store/postings.ts";
import type { Database, Row } from "../database.ts";
import { prepareValues } from "../value-rows.ts";

/** Vectors in SQLite. */
export class Vectors implements VectorStore {
  readonly #db: Database;
  readonly #statements;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = {
      embedder: db.prepare("SELECT number FROM embedders WHERE id = ?"),
      addEmbedder: db.prepare("INSERT OR IGNORE INTO embedders (id, dimensions) VALUES (?, ?)"),
      missing: db.prepare(
        `SELECT number, source, seq, part, start, stop, body FROM chunks WHERE number > ?
          AND NOT EXISTS (SELECT 1 FROM loose_vectors WHERE embedder = ? AND chunk = number)
          AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedder = ? AND segment = chunks.number / ${SEGMENT_CHUNKS})
         ORDER BY number LIMIT ?`,
      ),
      write: db.prepare(
        // Only for existing chunks: a chunk may have been forgotten while its text was being embedded.
        `INSERT OR REPLACE INTO loose_vectors (embedder, chunk, vector)
         SELECT ?, number, ? FROM chunks WHERE number = ?`,
      ),
      loose: prepareValues(
        db,
        `SELECT chunk, vector FROM loose_vectors WHERE embedder = ? AND chunk > ? ORDER BY chunk LIMIT ?`,
      ),
      between: db.prepare(
        "SELECT chunk, vector FROM loose_vectors WHERE embedder = ? AND chunk BETWEEN ? AND ?",
      ),
      removeBetween: db.prepare("DELETE FROM loose_vectors WHERE embedder = ? AND chunk BETWEEN ? AND ?"),
      lacking: db.prepare(
        `SELECT 1 FROM chunks WHERE number BETWEEN ? AND ?
          AND NOT EXISTS (SELECT 1 FROM loose_vectors WHERE embedder = ? AND chunk = number) LIMIT 1`,
      ),
      insert: db.prepare("INSERT OR IGNORE INTO vectors (embedder, segment, vectors) VALUES (?, ?, ?)"),
      packed: db.prepare("SELECT segment FROM vectors WHERE embedder = ? ORDER BY segment"),
      read: db.prepare("SELECT vectors FROM vectors WHERE embedder = ? AND segment = ?"),
      // Four ranges of keys, because "<>" would visit every row.
      others: db.prepare(
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM loose_vectors WHERE embedder < ?)
          OR EXISTS (SELECT 1 FROM loose_vectors WHERE embedder > ?)
          OR EXISTS (SELECT 1 FROM vectors WHERE embedder < ?)
          OR EXISTS (SELECT 1 FROM vectors WHERE embedder > ?)`,
      ),
      dropLoose: db.prepare("DELETE FROM loose_vectors WHERE embedder <> ?"),
      dropPacked: db.prepare("DELETE FROM vectors WHERE embedder <> ?"),
      cached: db.prepare("SELECT vector FROM embeddings WHERE embedder = ? AND hash = ?"),
      cache: db.prepare("INSERT OR REPLACE INTO embeddings (embedder, hash, vector) VALUES (?, ?, ?)"),
    };
  }

  /** Reads first: a recall without anything to add must not write. */
  async embedder(id: string, dimensions: number): Promise<number> {
    const known = await this.#db.read(() => this.#statements.embedder.get(id)?.number as number | undefined);
    if (known !== undefined) return known;
    return this.#db.transact(() => {
      this.#statements.addEmbedder.run(id, dimensions);
      return this.#statements.embedder.get(id)?.number as number;
    });
  }

  missing(embedder: number, after: number, limit: number): Promise<readonly UnembeddedChunk[]> {
    return this.#db.read(() =>
      this.#statements.missing.all(after, embedder, embedder, limit).map((row) => ({
        number: row.number as number,
        source: row.source as number,
        seq: row.seq as number,
        part: row.part as number,
        from: row.start as number,
        to: row.stop as number,
        hash: readBodyHash(row.body as Uint8Array),
      })),
    );
  }

  async write(embedder: number, vectors: readonly ChunkVector[]): Promise<void> {
    await this.#db.transact(() => {
      for (const { chunk, vector } of vectors) this.#statements.write.run(embedder, toBytes(vector), chunk);
    });
  }

  loose(embedder: number, after: number, limit: number): Promise<readonly ChunkVector[]> {
    return this.#db.read(() =>
      this.#statements.loose.all(embedder, after, limit).map(([chunk, vector]) => ({
        chunk: chunk as number,
        vector: toInt8(vector as Uint8Array),
      })),
    );
  }

  pack(embedder: number, segment: number): Promise<boolean> {
    const [first, last] = [segment * SEGMENT_CHUNKS, (segment + 1) * SEGMENT_CHUNKS - 1];
    return this.#db.transact(() => {
      if (this.#statements.lacking.get(first, last, embedder)) return false;
      const rows = this.#statements.between.all(embedder, first, last).map(toVector);
      const dimensions = rows[0]?.vector.length ?? 0;
      const vectors = new Int8Array(SEGMENT_CHUNKS * dimensions);
      for (const { chunk, vector } of rows) vectors.set(vector, segmentPlaceOf(chunk) * dimensions);
      this.#statements.insert.run(embedder, segment, toBytes(vectors));
      this.#statements.removeBetween.run(embedder, first, last);
      return true;
    });
  }

  packed(embedder: number): Promise<readonly number[]> {
    return this.#db.read(() => this.#statements.packed.all(embedder).map((row) => row.segment as number));
  }

  read(embedder: number, segment: number): Promise<Int8Array | undefined> {
    return this.#db.read(() => {
      const bytes = this.#statements.read.get(embedder, segment)?.vectors as Uint8Array | undefined;
      return bytes && toInt8(bytes);
    });
  }

  async dropOthers(embedder: number): Promise<void> {
    const hasOthers = () => this.#statements.others.get(embedder, embedder, embedder, embedder) !== undefined;
    if (!(await this.#db.read(hasOthers))) return;
    await this.#db.transact(() => {
      this.#statements.dropLoose.run(embedder);
      this.#statements.dropPacked.run(embedder);
    });
  }

  cached(embedder: number, hashes: readonly Uint8Array[]): Promise<readonly (Int8Array | undefined)[]> {
    return this.#db.read(() =>
      hashes.map((hash) => {
        const bytes = this.#statements.cached.get(embedder, hash)?.vector as Uint8Array | undefined;
        return bytes && toInt8(bytes);
      }),
    );
  }

  async cache(
    embedder: number,
    entries: readonly { readonly hash: Uint8Array; readonly vector: Int8Array }[],
  ): Promise<void> {
    await this.#db.transact(() => {
      for (const { hash, vector } of entries) this.#statements.cache.run(embedder, hash, toBytes(vector));
    });
  }
}

function toVector(row: Row): ChunkVector {
  return { chunk: row.chunk as number, vector: toInt8(row.vector as Uint8Array) };
}

function toInt8(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function toBytes(vector: Int8Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
