import { setImmediate } from "node:timers/promises";
import { readBodyHash, readBodyTerms } from "../../../log/store/chunk-body.ts";
import { SEGMENT_CHUNKS, type SourceName } from "../../../log/store/memory-store.ts";
import {
  eraseChunks,
  type ForgottenChunk,
  segmentOf,
  segmentPlaceOf,
  withoutPlaces,
} from "../../../log/store/postings.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";
import type { IndexChunks } from "./index-chunks.ts";
import { toNumbers } from "./index-segments.ts";
import { countSource, findSource } from "./index-sources.ts";
import { lockIndex, stampIndex } from "./index-state.ts";
import { packBytes } from "./packed-bytes.ts";

const CHUNKS_PER_STEP = 1_024;
const TERMS_PER_STEP = 2_000;

/** Removes chunks from the index: rows, postings, vectors, and terms without other chunks. */
export class IndexForgetter {
  readonly #db: PostgresDatabase;
  readonly #chunks: IndexChunks;

  constructor(db: PostgresDatabase, chunks: IndexChunks) {
    this.#db = db;
    this.#chunks = chunks;
  }

  async forget(name: SourceName, seqs?: readonly number[]): Promise<number> {
    const source = await this.#db.transact(async (transaction) => {
      await lockIndex(transaction);
      await stampIndex(transaction);
      return findSource(transaction, name);
    });
    if (!source) return 0;
    const terms = new Set<number>();
    let count = 0;
    if (seqs) {
      count = await this.#db.transact(async (transaction) => {
        await lockIndex(transaction);
        const rows = await transaction.query(
          "SELECT number, body FROM @chunks WHERE source = $1 AND seq = ANY($2::int[])",
          [source.number, seqs],
        );
        return this.#erase(transaction, source.number, name, rows, terms);
      });
    } else {
      // A version that no source has, so that anything a crash leaves of the source will be forgotten.
      await this.#db.query("UPDATE @sources SET version = '' WHERE number = $1", [source.number]);
      for (;;) {
        const erased = await this.#db.transact((transaction) =>
          this.#eraseStep(transaction, source.number, name, terms),
        );
        count += erased;
        if (erased === 0) break;
        await setImmediate();
      }
    }
    await this.#collectTerms([...terms]);
    return count;
  }

  async #eraseStep(
    transaction: Transaction,
    source: number,
    name: SourceName,
    terms: Set<number>,
  ): Promise<number> {
    await lockIndex(transaction);
    const rows = await transaction.query(
      "SELECT number, body FROM @chunks WHERE source = $1 ORDER BY number LIMIT $2",
      [source, CHUNKS_PER_STEP],
    );
    if (rows.length === 0) {
      await transaction.query("DELETE FROM @speakers WHERE source = $1", [source]);
      await transaction.query("DELETE FROM @sources WHERE number = $1", [source]);
    }
    return this.#erase(transaction, source, name, rows, terms);
  }

  async #erase(
    transaction: Transaction,
    source: number,
    { kind }: SourceName,
    rows: readonly SqlRow[],
    terms: Set<number>,
  ): Promise<number> {
    if (rows.length === 0) return 0;
    const chunks = rows.map((row) => ({
      number: row.number as number,
      terms: readBodyTerms(row.body as Uint8Array),
      hash: readBodyHash(row.body as Uint8Array),
    }));
    await stampIndex(transaction);
    for (const [segment, members] of Map.groupBy(chunks, ({ number }) => segmentOf(number))) {
      await erasePostings(transaction, segment, members);
      await eraseVectors(transaction, segment, members, kind === "session");
    }
    const numbers = chunks.map(({ number }) => number);
    await transaction.query("DELETE FROM @chunks WHERE number = ANY($1::bigint[])", [numbers]);
    let length = 0;
    for (const chunk of chunks) {
      length += chunk.terms.length;
      for (const term of chunk.terms) terms.add(term);
    }
    await countSource(transaction, source, { lastTurn: 0, chunks: -chunks.length, terms: -length });
    return chunks.length;
  }

  /** Removes terms that no chunk contains any more, because a word may be a secret. */
  async #collectTerms(terms: readonly number[]): Promise<void> {
    for (let at = 0; at < terms.length; at += TERMS_PER_STEP) {
      await this.#db.transact(async (transaction) => {
        await lockIndex(transaction);
        const [{ count = 0 } = {}] = await transaction.query("SELECT count(*)::int AS count FROM @segments");
        const inTail = new Set<number>();
        for (let next = (count as number) * SEGMENT_CHUNKS; ; ) {
          const rows = await this.#chunks.termsFrom(transaction, next, CHUNKS_PER_STEP);
          for (const row of rows) for (const term of row.terms) inTail.add(term);
          if (rows.length < CHUNKS_PER_STEP) break;
          next = (rows.at(-1)?.number ?? next) + 1;
        }
        const idle = terms.slice(at, at + TERMS_PER_STEP).filter((term) => !inTail.has(term));
        await transaction.query(
          `DELETE FROM @terms t WHERE t.number = ANY($1::bigint[])
             AND NOT EXISTS (SELECT 1 FROM @postings p WHERE p.term = t.number AND p.segment < $2)`,
          [idle, count as number],
        );
        await stampIndex(transaction);
      });
      await setImmediate();
    }
  }
}

async function erasePostings(
  transaction: Transaction,
  segment: number,
  chunks: readonly ForgottenChunk[],
): Promise<void> {
  const [row] = await transaction.query("SELECT sources FROM @segments WHERE number = $1", [segment]);
  if (!row) {
    // A concurrent seal may be writing these postings; it will notice the stamp and start again.
    await transaction.query("DELETE FROM @postings WHERE segment = $1", [segment]);
    return;
  }
  const sources = toNumbers(row.sources as Uint8Array);
  const gone = eraseChunks(sources, chunks);
  await transaction.query("UPDATE @segments SET sources = $2 WHERE number = $1", [
    segment,
    new Uint8Array(sources.buffer),
  ]);
  const rows = await transaction.query(
    "SELECT term, chunks FROM @postings WHERE segment = $1 AND term = ANY($2::bigint[])",
    [segment, [...gone.keys()]],
  );
  const left = rows.map(({ term, chunks: bytes }) => ({
    term: term as number,
    postings: withoutPlaces(bytes as Uint8Array, gone.get(term as number) ?? new Set()),
  }));
  const kept = left.filter((one): one is typeof one & { postings: Uint8Array } => one.postings !== undefined);
  await transaction.query("DELETE FROM @postings WHERE segment = $1 AND term = ANY($2::bigint[])", [
    segment,
    left.filter(({ postings }) => !postings).map(({ term }) => term),
  ]);
  await transaction.query(
    `UPDATE @postings p SET chunks = substr($5::bytea, start, size)
     FROM unnest($2::bigint[], $3::int[], $4::int[]) AS n (term, start, size) WHERE p.segment = $1 AND p.term = n.term`,
    [segment, kept.map(({ term }) => term), ...packBytes(kept.map(({ postings }) => postings))],
  );
}

/**
 * Erases vectors; cached vectors of messages are erased too, but those of files are kept because files change back and
 * forth.
 */
async function eraseVectors(
  transaction: Transaction,
  segment: number,
  chunks: readonly ForgottenChunk[],
  isCacheErased: boolean,
): Promise<void> {
  await transaction.query("DELETE FROM @loose_vectors WHERE chunk = ANY($1::bigint[])", [
    chunks.map(({ number }) => number),
  ]);
  if (isCacheErased)
    await transaction.query("DELETE FROM @embeddings WHERE hash = ANY($1::bytea[])", [
      chunks.map(({ hash }) => hash),
    ]);
  const packed = await transaction.query(
    "SELECT v.embedder, v.vectors, e.dimensions FROM @vectors v JOIN @embedders e ON e.number = v.embedder WHERE v.segment = $1",
    [segment],
  );
  for (const { embedder, vectors, dimensions } of packed) {
    const bytes = Uint8Array.from(vectors as Uint8Array);
    for (const { number } of chunks) {
      const at = segmentPlaceOf(number) * (dimensions as number);
      bytes.fill(0, at, at + (dimensions as number));
    }
    await transaction.query("UPDATE @vectors SET vectors = $3 WHERE embedder = $1 AND segment = $2", [
      embedder as number,
      segment,
      bytes,
    ]);
  }
}
