import { SEGMENT_CHUNKS, type TailChunk } from "../../log/store/memory-store.ts";
import { encodeWeight } from "../../log/store/postings.ts";

const TERMS_PER_CHUNK = 16;
const BYTES_PER_POSTING = 24;
/** Terms to search for before postings pay: the words of a few recalls. */
const MAX_SCANS = 150;

/**
 * Chunks after the last sealed segment. A program that recalls once searches their terms word by word, since building
 * postings of all terms would take longer; a program that continues recalling builds them.
 */
export class IndexTail {
  /** Number of the chunk at place 0. */
  readonly from: number;
  /** Number of the next chunk to read. */
  next: number;
  /** Terms of all chunks, one chunk after another. */
  #terms = new Uint32Array(SEGMENT_CHUNKS * TERMS_PER_CHUNK);
  #termCount = 0;
  /** Places of the chunks, and where the terms of each end, in ascending order. */
  readonly #places: number[] = [];
  readonly #ends: number[] = [];
  #sources = new Uint32Array(SEGMENT_CHUNKS * 2);
  #scans = 0;
  /** Pairs by term, once they are built. */
  #postings: Map<number, number[]> | undefined;

  constructor(from: number) {
    this.from = from;
    this.next = from;
  }

  /** Approximate bytes; a pair of postings takes about as much as a term. */
  get sizeBytes(): number {
    if (this.#places.length === 0) return 0;
    const postings = this.#postings ? this.#termCount * BYTES_PER_POSTING : 0;
    return this.#terms.byteLength + this.#sources.byteLength + this.#places.length * 16 + postings;
  }

  /** Adds a chunk with a higher number than all before it. */
  add({ number, source, terms }: TailChunk): void {
    const place = number - this.from;
    const end = this.#termCount + terms.length;
    this.#sources = growTo(this.#sources, place + 1);
    this.#terms = growTo(this.#terms, end);
    this.#sources[place] = source;
    this.#terms.set(terms, this.#termCount);
    this.#termCount = end;
    this.#places.push(place);
    this.#ends.push(end);
    if (this.#postings) addPostings(this.#postings, place, terms);
  }

  /** Places and weights of a term, in pairs. */
  pairsOf(term: number): readonly number[] {
    if (!this.#postings && ++this.#scans > MAX_SCANS) this.#postings = this.#buildPostings();
    return this.#postings ? (this.#postings.get(term) ?? []) : this.#scan(term);
  }

  /** The source of a chunk; 0 if there is no such chunk. */
  sourceAt(place: number): number {
    return this.#sources[place] ?? 0;
  }

  #scan(term: number): readonly number[] {
    const terms = this.#terms.subarray(0, this.#termCount);
    const pairs: number[] = [];
    let chunk = 0;
    for (let at = terms.indexOf(term); at >= 0; ) {
      while ((this.#ends[chunk] as number) <= at) chunk++;
      const start = chunk === 0 ? 0 : (this.#ends[chunk - 1] as number);
      const end = this.#ends[chunk] as number;
      let count = 0;
      for (; at >= 0 && at < end; at = terms.indexOf(term, at + 1)) count++;
      pairs.push(this.#places[chunk] as number, encodeWeight(count, end - start));
    }
    return pairs;
  }

  #buildPostings(): Map<number, number[]> {
    const postings = new Map<number, number[]>();
    let start = 0;
    for (const [index, place] of this.#places.entries()) {
      const end = this.#ends[index] as number;
      addPostings(postings, place, this.#terms.subarray(start, end));
      start = end;
    }
    return postings;
  }
}

function addPostings(postings: Map<number, number[]>, place: number, terms: Uint32Array): void {
  const occurrences = new Map<number, number>();
  for (const term of terms) occurrences.set(term, (occurrences.get(term) ?? 0) + 1);
  for (const [term, count] of occurrences) {
    const pairs = postings.get(term);
    const weight = encodeWeight(count, terms.length);
    if (pairs) pairs.push(place, weight);
    else postings.set(term, [place, weight]);
  }
}

/** The array, or a copy at least twice as long if it is too short. */
function growTo(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const larger = new Uint32Array(Math.max(length, array.length * 2));
  larger.set(array);
  return larger;
}
