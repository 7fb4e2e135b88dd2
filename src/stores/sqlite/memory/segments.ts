import { setImmediate } from "node:timers/promises";
import { type IndexState, type PostingsRow, SEGMENT_CHUNKS } from "../../../log/store/memory-store.ts";
import { PostingsBuilder, segmentPlaceOf } from "../../../log/store/postings.ts";
import type { Database } from "../database.ts";
import { prepareValues } from "../value-rows.ts";
import type { ChunkRows } from "./chunk-rows.ts";

/** Rows read or written before yielding to other work. */
const ROWS_PER_STEP = 2_048;

/** Sealed segments, and sealing of the next one. */
export class Segments {
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

  postings(terms: readonly number[], segments: number, from = 0): Promise<PostingsRow[]> {
    return this.#db.snapshot(() => {
      const rows: PostingsRow[] = [];
      for (let segment = from; segment < segments; segment++) {
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
