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
import type { Database } from "../database.ts";
import type { ChunkRows } from "./chunk-rows.ts";
import type { Sources } from "./sources.ts";

const CHUNKS_PER_STEP = 1_024;
const TERMS_PER_STEP = 2_000;

/** Removes chunks from the index: rows, postings, vectors, and terms without other chunks. */
export class Forgetter {
  readonly #db: Database;
  readonly #sources: Sources;
  readonly #chunks: ChunkRows;
  readonly #statements;

  constructor(db: Database, sources: Sources, chunks: ChunkRows) {
    this.#db = db;
    this.#sources = sources;
    this.#chunks = chunks;
    this.#statements = {
      ofSource: db.prepare("SELECT number, body FROM chunks WHERE source = ? ORDER BY number LIMIT ?"),
      ofEntry: db.prepare("SELECT number, body FROM chunks WHERE source = ? AND seq = ?"),
      remove: db.prepare("DELETE FROM chunks WHERE number = ?"),
      stamp: db.prepare("UPDATE stamp SET value = value + 1"),
      segment: db.prepare("SELECT sources FROM segments WHERE number = ?"),
      setSources: db.prepare("UPDATE segments SET sources = ? WHERE number = ?"),
      postings: db.prepare("SELECT chunks FROM postings WHERE segment = ? AND term = ?"),
      setPostings: db.prepare("UPDATE postings SET chunks = ? WHERE segment = ? AND term = ?"),
      removePostings: db.prepare("DELETE FROM postings WHERE segment = ? AND term = ?"),
      dropPostings: db.prepare("DELETE FROM postings WHERE segment = ?"),
      loose: db.prepare("DELETE FROM loose_vectors WHERE embedder = ? AND chunk = ?"),
      packed: db.prepare("SELECT rowid, vectors FROM vectors WHERE embedder = ? AND segment = ?"),
      setPacked: db.prepare("UPDATE vectors SET vectors = ? WHERE rowid = ?"),
      embedders: db.prepare("SELECT number, dimensions FROM embedders"),
      uncache: db.prepare("DELETE FROM embeddings WHERE embedder = ? AND hash = ?"),
      segments: db.prepare("SELECT number FROM segments ORDER BY number DESC"),
      removeTerm: db.prepare("DELETE FROM terms WHERE number = ?"),
    };
  }

  async forget(name: SourceName, seqs?: readonly number[]): Promise<number> {
    const source = await this.#db.transact(() => {
      this.#statements.stamp.run();
      return this.#sources.find(name);
    });
    if (!source) return 0;
    const terms = new Set<number>();
    let count = 0;
    if (seqs) {
      for (const seq of seqs) {
        count += await this.#db.transact(() =>
          this.#erase(source.number, name, this.#rows("ofEntry", source.number, seq), terms),
        );
      }
    } else {
      await this.#db.transact(() => this.#sources.invalidate(source.number));
      for (;;) {
        const erased = await this.#db.transact(() => {
          const rows = this.#rows("ofSource", source.number, CHUNKS_PER_STEP);
          if (rows.length === 0) this.#sources.remove(source.number);
          return this.#erase(source.number, name, rows, terms);
        });
        count += erased;
        if (erased === 0) break;
        await setImmediate();
      }
    }
    await this.#collectTerms([...terms]);
    return count;
  }

  #rows(which: "ofSource" | "ofEntry", source: number, argument: number): ForgottenChunk[] {
    return this.#statements[which].all(source, argument).map((row) => ({
      number: row.number as number,
      terms: readBodyTerms(row.body as Uint8Array),
      hash: readBodyHash(row.body as Uint8Array),
    }));
  }

  #erase(source: number, { kind }: SourceName, rows: readonly ForgottenChunk[], terms: Set<number>): number {
    if (rows.length === 0) return 0;
    this.#statements.stamp.run();
    let length = 0;
    for (const [segment, members] of Map.groupBy(rows, ({ number }) => segmentOf(number))) {
      this.#erasePostings(segment, members);
      this.#eraseVectors(segment, members, kind === "session");
    }
    for (const row of rows) {
      this.#statements.remove.run(row.number);
      length += row.terms.length;
      for (const term of row.terms) terms.add(term);
    }
    this.#sources.count(source, { lastTurn: 0, chunks: -rows.length, terms: -length });
    return rows.length;
  }

  #erasePostings(segment: number, rows: readonly ForgottenChunk[]): void {
    const blob = this.#statements.segment.get(segment)?.sources as Uint8Array | undefined;
    if (!blob) {
      // A concurrent seal may be writing these postings; it will notice the stamp and start again.
      this.#statements.dropPostings.run(segment);
      return;
    }
    const sources = new Uint32Array(blob.slice().buffer);
    const gone = eraseChunks(sources, rows);
    this.#statements.setSources.run(new Uint8Array(sources.buffer), segment);
    for (const [term, places] of gone) {
      const row = this.#statements.postings.get(segment, term);
      if (!row) continue;
      const left = withoutPlaces(row.chunks as Uint8Array, places);
      if (left) this.#statements.setPostings.run(left, segment, term);
      else this.#statements.removePostings.run(segment, term);
    }
  }

  /**
   * Erases vectors; cached vectors of messages are erased too, but those of files are kept because
   * files change back and forth.
   */
  #eraseVectors(segment: number, rows: readonly ForgottenChunk[], isCacheErased: boolean): void {
    for (const embedder of this.#statements.embedders.all()) {
      const number = embedder.number as number;
      const dimensions = embedder.dimensions as number;
      for (const row of rows) {
        this.#statements.loose.run(number, row.number);
        if (isCacheErased) this.#statements.uncache.run(number, row.hash);
      }
      const packed = this.#statements.packed.get(number, segment);
      if (!packed) continue;
      const vectors = (packed.vectors as Uint8Array).slice();
      for (const row of rows) {
        const at = segmentPlaceOf(row.number) * dimensions;
        vectors.fill(0, at, at + dimensions);
      }
      this.#statements.setPacked.run(vectors, packed.rowid as number);
    }
  }

  /** Removes terms that no chunk contains any more, because a word may be a secret. */
  async #collectTerms(terms: readonly number[]): Promise<void> {
    for (let at = 0; at < terms.length; at += TERMS_PER_STEP) {
      await this.#db.transact(() => {
        const segments = this.#statements.segments.all().map((row) => row.number as number);
        const inTail = new Set<number>();
        const from = segments.length * SEGMENT_CHUNKS;
        for (let next = from; ; ) {
          const rows = this.#chunks.termsFrom(next, CHUNKS_PER_STEP);
          for (const row of rows) for (const term of row.terms) inTail.add(term);
          if (rows.length < CHUNKS_PER_STEP) break;
          next = (rows.at(-1)?.number ?? next) + 1;
        }
        for (const term of terms.slice(at, at + TERMS_PER_STEP)) {
          if (inTail.has(term)) continue;
          if (segments.some((segment) => this.#statements.postings.get(segment, term))) continue;
          this.#statements.removeTerm.run(term);
        }
        this.#statements.stamp.run();
      });
      await setImmediate();
    }
  }
}
