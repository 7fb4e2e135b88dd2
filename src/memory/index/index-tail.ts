import { SEGMENT_CHUNKS, type TailChunk } from "../../store/memory-store.ts";
import { encodeWeight } from "../../store/postings.ts";

/** Chunks after the last sealed segment, by their terms. */
export class IndexTail {
  /** Number of the chunk at place 0. */
  readonly from: number;
  /** Number of the next chunk to read. */
  next: number;
  readonly #pairs = new Map<number, number[]>();
  #sources = new Uint32Array(SEGMENT_CHUNKS * 2);

  constructor(from: number) {
    this.from = from;
    this.next = from;
  }

  add({ number, source, terms }: TailChunk): void {
    const place = number - this.from;
    if (place >= this.#sources.length) {
      const larger = new Uint32Array(place * 2);
      larger.set(this.#sources);
      this.#sources = larger;
    }
    this.#sources[place] = source;
    const occurrences = new Map<number, number>();
    for (const term of terms) occurrences.set(term, (occurrences.get(term) ?? 0) + 1);
    for (const [term, count] of occurrences) {
      const pairs = this.#pairs.get(term);
      const weight = encodeWeight(count, terms.length);
      if (pairs) pairs.push(place, weight);
      else this.#pairs.set(term, [place, weight]);
    }
  }

  /** Places and weights of a term, in pairs. */
  pairsOf(term: number): readonly number[] {
    return this.#pairs.get(term) ?? [];
  }

  /** The source of a chunk; 0 if there is no such chunk. */
  sourceAt(place: number): number {
    return this.#sources[place] ?? 0;
  }
}
