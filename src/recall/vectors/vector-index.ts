import { type MemoryStore, SEGMENT_CHUNKS } from "../../log/store/memory-store.ts";
import { segmentOf, segmentPlaceOf } from "../../log/store/postings.ts";
import type { ScoredChunk, SourceFilter } from "../scored-chunk.ts";
import { findAbove, TopList } from "../top-list.ts";
import { padDimensions, quantizeVector, toCosine } from "./quantize.ts";
import { Scanner } from "./scanner.ts";

/** The embedder whose vectors are searched. */
interface VectorSpace {
  readonly embedder: number;
  readonly dimensions: number;
}

const LOOSE_ROWS = 4_096;

/**
 * Exact nearest-neighbor search: compares every vector of one embedder with the query. Up to `maxBytes` of vectors are
 * held in memory; further segments are read for each search.
 */
export class VectorIndex {
  readonly #store: MemoryStore;
  readonly #space: VectorSpace;
  readonly #scanner: Scanner;
  readonly #maxHeld: number;
  /** Address of each segment's vectors; undefined for a segment that is not held. */
  readonly #addresses = new Map<number, number | undefined>();
  readonly #complete = new Set<number>();
  /** Segments as the store gave them, until the second load: a process that searches once never copies them. */
  readonly #unplaced = new Map<number, Int8Array>();
  #isLoaded = false;
  #scratchAddress: number | undefined;
  #looseSeen = 0;
  #refreshing: Promise<void> | undefined;

  constructor(store: MemoryStore, space: VectorSpace, maxBytes: number) {
    this.#store = store;
    this.#space = space;
    const padded = padDimensions(space.dimensions);
    this.#scanner = new Scanner(padded, SEGMENT_CHUNKS);
    this.#maxHeld = Math.max(1, Math.floor(maxBytes / (SEGMENT_CHUNKS * padded)));
  }

  /** Bytes held in memory. */
  get sizeBytes(): number {
    let sizeBytes = this.#scanner.sizeBytes;
    for (const { byteLength } of this.#unplaced.values()) sizeBytes += byteLength;
    return sizeBytes;
  }

  /** Loads vectors that were added since the last call. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#load().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #load(): Promise<void> {
    const { vectors } = this.#store;
    const { embedder } = this.#space;
    this.#placeSegments();
    for (const segment of await vectors.packed(embedder)) {
      if (this.#complete.has(segment)) continue;
      this.#complete.add(segment);
      if (!this.#isLoaded && this.#addresses.size < this.#maxHeld) {
        const packed = await this.#readSegment(segment);
        if (packed) this.#unplaced.set(segment, packed);
        this.#addresses.set(segment, undefined);
        continue;
      }
      const address = this.#reserveAddress(segment);
      const packed = address === undefined ? undefined : await this.#readSegment(segment);
      if (address !== undefined && packed) this.#scanner.put(address, packed);
    }
    this.#isLoaded = true;
    for (;;) {
      const rows = await vectors.loose(embedder, this.#looseSeen, LOOSE_ROWS);
      for (const { chunk, vector } of rows) {
        const address = this.#reserveAddress(segmentOf(chunk));
        if (address !== undefined) this.#scanner.put(address + segmentPlaceOf(chunk) * vector.length, vector);
        this.#looseSeen = chunk;
      }
      if (rows.length < LOOSE_ROWS) return;
    }
  }

  #placeSegments(): void {
    this.#scanner.expect(this.#unplaced.size * SEGMENT_CHUNKS);
    for (const [segment, packed] of this.#unplaced) {
      const address = this.#scanner.reserve(SEGMENT_CHUNKS);
      this.#scanner.put(address, packed);
      this.#addresses.set(segment, address);
      this.#unplaced.delete(segment);
    }
  }

  #reserveAddress(segment: number): number | undefined {
    if (!this.#addresses.has(segment)) {
      const isHeld = this.#addresses.size < this.#maxHeld;
      this.#addresses.set(segment, isHeld ? this.#scanner.reserve(SEGMENT_CHUNKS) : undefined);
    }
    return this.#addresses.get(segment);
  }

  /**
   * The `limit` chunks nearest to a vector, with their cosines; `sourceOf` returns the source of a chunk, 0 if it is
   * gone.
   */
  async search(
    vector: ArrayLike<number>,
    sourceOf: (chunk: number) => number,
    filter: SourceFilter,
    limit: number,
  ): Promise<readonly ScoredChunk[]> {
    const query = quantizeVector(vector);
    const top = new TopList(limit);
    for (const segment of [...this.#addresses.keys()].sort((left, right) => left - right)) {
      const held = this.#addresses.get(segment);
      const packed =
        held === undefined ? (this.#unplaced.get(segment) ?? (await this.#readSegment(segment))) : undefined;
      // From here to the scan nothing is awaited: other searches use the same buffer and the same query.
      const address = held ?? this.#putPassing(packed);
      this.#scanner.setQuery(query);
      const products = this.#scanner.scan(address, SEGMENT_CHUNKS);
      const first = segment * SEGMENT_CHUNKS;
      for (let place = findAbove(products, 0, top.minScore); place < SEGMENT_CHUNKS; ) {
        const source = sourceOf(first + place);
        if (source !== 0 && (!filter || filter[source] === 1))
          top.offer(first + place, products[place] as number);
        place = findAbove(products, place + 1, top.minScore);
      }
    }
    return top
      .getBest()
      .map(({ chunk, score }) => ({ chunk, score: toCosine(score, this.#space.dimensions) }));
  }

  /** Cosines of single chunks with a vector; null for a chunk whose vector is not in memory. */
  similarities(vector: ArrayLike<number>, chunks: readonly number[]): (number | null)[] {
    this.#scanner.setQuery(quantizeVector(vector));
    return chunks.map((chunk) => {
      const address = this.#findVector(chunk);
      const product = address === undefined ? 0 : (this.#scanner.scan(address, 1)[0] ?? 0);
      return product === 0 ? null : toCosine(product, this.#space.dimensions);
    });
  }

  /** Address of a chunk's vector; undefined if its segment is not in memory. */
  #findVector(chunk: number): number | undefined {
    const { dimensions } = this.#scanner;
    const from = segmentPlaceOf(chunk) * dimensions;
    const packed = this.#unplaced.get(segmentOf(chunk));
    if (packed) return this.#putPassing(packed.subarray(from, from + dimensions));
    const address = this.#addresses.get(segmentOf(chunk));
    return address === undefined ? undefined : address + from;
  }

  #readSegment(segment: number): Promise<Int8Array | undefined> {
    return this.#store.vectors.read(this.#space.embedder, segment);
  }

  #putPassing(packed: Int8Array | undefined): number {
    this.#scratchAddress ??= this.#scanner.reserve(SEGMENT_CHUNKS);
    this.#scanner.put(
      this.#scratchAddress,
      packed ?? new Int8Array(SEGMENT_CHUNKS * this.#scanner.dimensions),
    );
    return this.#scratchAddress;
  }
}
