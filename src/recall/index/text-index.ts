import {
  type IndexState,
  type MemoryStore,
  type PostingsRow,
  SEGMENT_CHUNKS,
} from "../../log/store/memory-store.ts";
import {
  addScores,
  computeWorth,
  countPostings,
  segmentOf,
  segmentPlaceOf,
} from "../../log/store/postings.ts";
import { SerialQueue } from "../../model/base/serial-queue.ts";
import type { ScoredChunk, SourceFilter } from "../scored-chunk.ts";
import { findAbove, TopList } from "../top-list.ts";
import { IndexTail } from "./index-tail.ts";

/** The result of a search by terms. */
interface TextMatches {
  /** Best first. */
  readonly chunks: readonly ScoredChunk[];
  /** Number of chunks in which each term occurs. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/**
 * The part of the index in memory; replaced as a whole when something was removed, so that searches in progress can
 * continue.
 */
interface LoadedIndex {
  readonly stamp: number;
  /** Sources by place, one array per sealed segment: four bytes per chunk. */
  readonly sources: Map<number, Uint32Array>;
  sealed: number;
  tail: IndexTail;
}

const TAIL_ROWS = 2_048;

/** Value of an occurrence, for each of the 256 weights in postings. */
const WORTH = Float32Array.from({ length: 256 }, (_, weight) => computeWorth(weight));

/** Finds chunks by their terms: postings of sealed segments from the store, those of the tail from memory. */
export class TextIndex {
  readonly #store: MemoryStore;
  readonly #scores = new Float32Array(SEGMENT_CHUNKS);
  #loaded: LoadedIndex = createEmptyIndex(-1);
  readonly #refreshes = new SerialQueue();

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** Approximate bytes of the part in memory. */
  get sizeBytes(): number {
    const { sources, tail } = this.#loaded;
    return [...sources.values()].reduce((sum, { byteLength }) => sum + byteLength, tail.sizeBytes);
  }

  /** Releases the part of the index in memory. */
  drop(): void {
    this.#loaded = createEmptyIndex(-1);
  }

  /** Loads chunks added since the last call, or everything if something was removed. Calls run one after another. */
  refresh(): Promise<IndexState> {
    return this.#refreshes.run(() => this.#load());
  }

  async #load(): Promise<IndexState> {
    const state = await this.#store.state();
    if (state.stamp !== this.#loaded.stamp) this.#loaded = createEmptyIndex(state.stamp);
    const held = this.#loaded;
    for (let segment = held.sources.size; segment < state.sealed; segment++)
      held.sources.set(segment, await this.#store.segmentSources(segment));
    const from = state.sealed * SEGMENT_CHUNKS;
    const tail = held.tail.from === from ? held.tail : new IndexTail(from);
    while (tail.next <= state.lastChunk) {
      const rows = await this.#store.tail(tail.next, TAIL_ROWS);
      for (const row of rows) tail.add(row);
      const last = rows.at(-1)?.number ?? state.lastChunk;
      tail.next = rows.length < TAIL_ROWS ? Math.max(last, state.lastChunk) + 1 : last + 1;
    }
    held.tail = tail;
    held.sealed = state.sealed;
    return state;
  }

  /** The best `limit` chunks by Okapi's formula; `total` is the number of all chunks. Requires a prior refresh. */
  async search(
    terms: readonly string[],
    filter: SourceFilter,
    limit: number,
    total: number,
  ): Promise<TextMatches> {
    const { sources, tail } = this.#loaded;
    const sealed = segmentOf(tail.from);
    const numbers = await this.#store.termNumbers(terms);
    const wanted = [...numbers.values()];
    const rows = await this.#store.postings(wanted, sealed);
    const ofTail = new Map(wanted.map((term) => [term, tail.pairsOf(term)]));
    const counts = new Map(wanted.map((term) => [term, (ofTail.get(term)?.length ?? 0) / 2]));
    for (const { term, postings } of rows)
      counts.set(term, (counts.get(term) ?? 0) + countPostings(postings));
    const rarities = new Map(
      wanted.map((term) => {
        const frequency = counts.get(term) ?? 0;
        return [term, Math.log(1 + Math.max(0, total - frequency + 0.5) / (frequency + 0.5))];
      }),
    );
    const top = new TopList(limit);
    for (const [segment, found] of Map.groupBy(rows, (row) => row.segment)) {
      const own = sources.get(segment);
      if (own) this.#scoreSegment(segment * SEGMENT_CHUNKS, own, found, rarities, filter, top);
    }
    scoreTail(tail, ofTail, rarities, filter, top);
    const frequencies = new Map([...numbers].map(([term, number]) => [term, counts.get(number) ?? 0]));
    return { chunks: top.getBest(), frequencies };
  }

  #scoreSegment(
    first: number,
    sources: Uint32Array,
    rows: readonly PostingsRow[],
    rarities: ReadonlyMap<number, number>,
    filter: SourceFilter,
    top: TopList,
  ): void {
    if (filter && !sources.some((source) => filter[source] === 1)) return;
    const scores = this.#scores.fill(0);
    for (const { term, postings } of rows) addScores(postings, scores, WORTH, rarities.get(term) ?? 0);
    for (let place = findAbove(scores, 0, top.minScore); place < SEGMENT_CHUNKS; ) {
      if (!filter || filter[sources[place] as number] === 1)
        top.offer(first + place, scores[place] as number);
      place = findAbove(scores, place + 1, top.minScore);
    }
  }

  /** The source of a chunk, as far as loaded; 0 if it is gone. */
  sourceOf(chunk: number): number {
    const { sources, tail } = this.#loaded;
    if (chunk >= tail.from) return tail.sourceAt(chunk - tail.from);
    return sources.get(segmentOf(chunk))?.[segmentPlaceOf(chunk)] ?? 0;
  }
}

function createEmptyIndex(stamp: number): LoadedIndex {
  return { stamp, sources: new Map(), sealed: 0, tail: new IndexTail(0) };
}

function scoreTail(
  tail: IndexTail,
  ofTail: ReadonlyMap<number, readonly number[]>,
  rarities: ReadonlyMap<number, number>,
  filter: SourceFilter,
  top: TopList,
): void {
  const scores = new Map<number, number>();
  for (const [term, rarity] of rarities) {
    const pairs = ofTail.get(term) ?? [];
    for (let at = 0; at < pairs.length; at += 2) {
      const place = pairs[at] as number;
      scores.set(place, (scores.get(place) ?? 0) + rarity * (WORTH[pairs[at + 1] as number] as number));
    }
  }
  // In the order of the chunks, so that ties do not depend on the order of the words.
  for (const place of [...scores.keys()].sort((left, right) => left - right)) {
    if (!filter || filter[tail.sourceAt(place)] === 1) top.offer(tail.from + place, scores.get(place) ?? 0);
  }
}
