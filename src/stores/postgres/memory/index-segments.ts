import { setImmediate } from "node:timers/promises";
import { type PostingsRow, SEGMENT_CHUNKS } from "../../../log/store/memory-store.ts";
import { PostingsBuilder, segmentPlaceOf } from "../../../log/store/postings.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import type { IndexChunks } from "./index-chunks.ts";
import { lockIndex, readIndexState } from "./index-state.ts";
import { packBytes } from "./packed-bytes.ts";

/** Rows read or written in one step. */
const ROWS_PER_STEP = 2_048;

/** Sealed segments, and sealing of the next one. */
export class IndexSegments {
  readonly #db: PostgresDatabase;
  readonly #chunks: IndexChunks;

  constructor(db: PostgresDatabase, chunks: IndexChunks) {
    this.#db = db;
    this.#chunks = chunks;
  }

  async postings(terms: readonly number[], segments: number): Promise<PostingsRow[]> {
    if (terms.length === 0 || segments === 0) return [];
    const rows = await this.#db.query(
      "SELECT segment, term, chunks FROM @postings WHERE term = ANY($1::bigint[]) AND segment < $2",
      [terms, segments],
    );
    const placeOf = new Map(terms.map((term, place) => [term, place]));
    return rows
      .map((row) => ({
        segment: row.segment as number,
        term: row.term as number,
        postings: row.chunks as Uint8Array,
      }))
      .sort((a, b) => a.segment - b.segment || (placeOf.get(a.term) ?? 0) - (placeOf.get(b.term) ?? 0));
  }

  async sources(segment: number): Promise<Uint32Array> {
    const [row] = await this.#db.query("SELECT sources FROM @segments WHERE number = $1", [segment]);
    return row ? toNumbers(row.sources as Uint8Array) : new Uint32Array(SEGMENT_CHUNKS);
  }

  /**
   * Works in steps between which others can work. Every write step checks that nothing was removed since the chunks
   * were read and that no other process has sealed the segment: postings never outlive their chunks.
   */
  async seal(): Promise<boolean> {
    const before = await readIndexState(this.#db);
    const segment = before.sealed;
    const first = segment * SEGMENT_CHUNKS;
    if (before.lastChunk < first + SEGMENT_CHUNKS - 1) return false;
    const builder = new PostingsBuilder();
    const sources = new Uint32Array(SEGMENT_CHUNKS);
    for (let from = first; from < first + SEGMENT_CHUNKS; from += ROWS_PER_STEP) {
      for (const { number, source, terms } of await this.#chunks.termsFrom(this.#db, from, ROWS_PER_STEP)) {
        if (number >= from + ROWS_PER_STEP) break;
        builder.add(segmentPlaceOf(number), terms);
        sources[segmentPlaceOf(number)] = source;
      }
    }
    const isStill = async (transaction: Transaction) => {
      await lockIndex(transaction);
      const now = await readIndexState(transaction);
      return now.sealed === segment && now.stamp === before.stamp;
    };
    for (const rows of inSteps(builder.postings())) {
      const isWritten = await this.#db.transact(async (transaction) => {
        if (!(await isStill(transaction))) return false;
        await this.#writePostings(transaction, segment, rows);
        return true;
      });
      if (!isWritten) return true;
      await setImmediate();
    }
    await this.#db.transact(async (transaction) => {
      if (await isStill(transaction))
        await transaction.query("INSERT INTO @segments (number, sources) VALUES ($1, $2)", [
          segment,
          new Uint8Array(sources.buffer),
        ]);
    });
    return true;
  }

  async #writePostings(
    transaction: Transaction,
    segment: number,
    rows: readonly Omit<PostingsRow, "segment">[],
  ): Promise<void> {
    await transaction.query(
      `INSERT INTO @postings (segment, term, chunks)
       SELECT $1, term, substr($5::bytea, start, size) FROM unnest($2::bigint[], $3::int[], $4::int[]) AS p (term, start, size)
       ON CONFLICT (term, segment) DO UPDATE SET chunks = excluded.chunks`,
      [segment, rows.map(({ term }) => term), ...packBytes(rows.map(({ postings }) => postings))],
    );
  }
}

/** The numbers of a row's bytes. */
export function toNumbers(bytes: Uint8Array): Uint32Array {
  // A copy, because the numbers must be aligned.
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

function* inSteps<T>(items: Iterable<T>): Generator<readonly T[]> {
  let step: T[] = [];
  for (const item of items) {
    step.push(item);
    if (step.length < ROWS_PER_STEP) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}
