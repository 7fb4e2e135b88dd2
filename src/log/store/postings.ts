import { type PostingsRow, SEGMENT_CHUNKS } from "./memory-store.ts";
import { putNumber } from "./term-list.ts";

export function segmentOf(chunk: number): number {
  return Math.floor(chunk / SEGMENT_CHUNKS);
}

/** A chunk's position in its segment. */
export function segmentPlaceOf(chunk: number): number {
  return chunk % SEGMENT_CHUNKS;
}

/** A chunk that is removed from the index. */
export interface ForgottenChunk {
  readonly number: number;
  readonly terms: Uint32Array;
  readonly hash: Uint8Array;
}

/** Removes chunks from the sources of their segment; returns their positions for each of their terms. */
export function eraseChunks(
  sources: Uint32Array,
  chunks: readonly ForgottenChunk[],
): ReadonlyMap<number, ReadonlySet<number>> {
  const gone = new Map<number, Set<number>>();
  for (const { number, terms } of chunks) {
    const place = segmentPlaceOf(number);
    sources[place] = 0;
    for (const term of terms) gone.set(term, (gone.get(term) ?? new Set()).add(place));
  }
  return gone;
}

/** Packs the weight of a posting into one byte: occurrences of the term (up to 15) and the approximate chunk length. */
export function encodeWeight(occurrences: number, length: number): number {
  return (Math.min(occurrences, 15) << 4) | Math.min(15, Math.floor(2 * Math.log2(Math.max(1, length))));
}

/** Occurrences of the term, from a weight byte. */
function decodeOccurrences(weight: number): number {
  return weight >>> 4;
}

/** Approximate number of terms in the chunk, from a weight byte. */
function decodeLength(weight: number): number {
  return 2 ** (((weight & 15) + 0.5) / 2);
}

/** Okapi's constants. Chunks are of similar length, so a fixed length replaces the average. */
const SATURATION = 1.5;
const LENGTH_SHARE = 0.6;
const USUAL_LENGTH = 30;

/** Value of a term's occurrences in a chunk, from a weight byte; times the term's rarity it is the score. */
export function computeWorth(weight: number): number {
  const count = decodeOccurrences(weight);
  const norm = 1 - LENGTH_SHARE + (LENGTH_SHARE * decodeLength(weight)) / USUAL_LENGTH;
  return (count * (SATURATION + 1)) / (count + SATURATION * norm);
}

/** The header holds the number of postings. */
const HEADER_BYTES = 2;

/**
 * Encodes postings: the count, then for each posting the distance to the previous place and the weight.
 * `pairs` ascend by place.
 */
function packPostings(pairs: readonly number[], bytes = allocatePostings(pairs.length)): Uint8Array {
  bytes[0] = pairs.length >> 1;
  bytes[1] = pairs.length >> 9;
  let at = HEADER_BYTES;
  let last = 0;
  for (let index = 0; index < pairs.length; index += 2) {
    const place = pairs[index] as number;
    at = putNumber(bytes, at, place - last);
    bytes[at++] = pairs[index + 1] as number;
    last = place;
  }
  return bytes.slice(0, at);
}

/** Room for packed postings: a distance takes at most two bytes, a weight one. */
function allocatePostings(pairNumbers: number): Uint8Array {
  return new Uint8Array(HEADER_BYTES + pairNumbers * 2);
}

export function countPostings(bytes: Uint8Array): number {
  return (bytes[0] as number) | ((bytes[1] as number) << 8);
}

/** Adds `times` × `worth[weight]` to the score of each posting's place. */
export function addScores(bytes: Uint8Array, scores: Float32Array, worth: Float32Array, times: number): void {
  // `visitPostings` inlined: this runs for every chunk that contains a word of the question.
  let place = 0;
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    const byte = bytes[at++] as number;
    place += byte & 127;
    if (byte > 127) place += (bytes[at++] as number) << 7;
    scores[place] = (scores[place] as number) + times * (worth[bytes[at++] as number] as number);
  }
}

/** Calls `visit` with the place and weight of each posting. */
export function visitPostings(bytes: Uint8Array, visit: (place: number, weight: number) => void): void {
  let place = 0;
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    let byte = bytes[at++] as number;
    place += byte & 127;
    // Places are below 2^14, so a distance takes at most two bytes.
    if (byte > 127) {
      byte = bytes[at++] as number;
      place += byte << 7;
    }
    visit(place, bytes[at++] as number);
  }
}

/** The postings without the `gone` places; undefined if none is left. */
export function withoutPlaces(bytes: Uint8Array, gone: ReadonlySet<number>): Uint8Array | undefined {
  const pairs: number[] = [];
  visitPostings(bytes, (place, weight) => {
    if (!gone.has(place)) pairs.push(place, weight);
  });
  return pairs.length === 0 ? undefined : packPostings(pairs);
}

/** Builds the postings of a segment by sorting one list of all term occurrences. */
export class PostingsBuilder {
  #occurrences = new Float64Array(SEGMENT_CHUNKS * 64);
  #count = 0;
  readonly #lengths = new Uint32Array(SEGMENT_CHUNKS);

  add(place: number, terms: Uint32Array): void {
    this.#lengths[place] = terms.length;
    if (this.#count + terms.length > this.#occurrences.length) {
      const larger = new Float64Array(this.#occurrences.length * 2 + terms.length);
      larger.set(this.#occurrences);
      this.#occurrences = larger;
    }
    for (const term of terms) this.#occurrences[this.#count++] = term * SEGMENT_CHUNKS + place;
  }

  /** The postings of every term, in order of term number. */
  *postings(): Generator<Omit<PostingsRow, "segment">, void> {
    const sorted = this.#occurrences.subarray(0, this.#count).sort();
    let pairs: number[] = [];
    const room = allocatePostings(2 * SEGMENT_CHUNKS);
    for (let at = 0; at < sorted.length; ) {
      const key = sorted[at] as number;
      const first = at;
      while (sorted[at] === key) at++;
      const place = key % SEGMENT_CHUNKS;
      pairs.push(place, encodeWeight(at - first, this.#lengths[place] as number));
      const term = Math.floor(key / SEGMENT_CHUNKS);
      if (at < sorted.length && Math.floor((sorted[at] as number) / SEGMENT_CHUNKS) === term) continue;
      yield { term, postings: packPostings(pairs, room) };
      pairs = [];
    }
  }
}
