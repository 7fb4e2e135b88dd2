/** Keeps the chunks with the highest scores; of equal scores, the smaller chunk number wins. */
export class TopList {
  readonly #limit: number;
  #chunks: { chunk: number; score: number }[] = [];
  #minScore = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Chunks that do not score higher than this need not be offered. */
  get minScore(): number {
    return this.#minScore;
  }

  offer(chunk: number, score: number): void {
    if (score <= this.#minScore) return;
    this.#chunks.push({ chunk, score });
    // Trimmed occasionally, which is cheaper than keeping the list sorted.
    if (this.#chunks.length >= this.#limit * 4) this.#cut();
  }

  /** Best first. */
  getBest(): readonly { readonly chunk: number; readonly score: number }[] {
    this.#cut();
    return this.#chunks;
  }

  #cut(): void {
    this.#chunks.sort((left, right) => right.score - left.score || left.chunk - right.chunk);
    this.#chunks = this.#chunks.slice(0, this.#limit);
    if (this.#chunks.length === this.#limit) this.#minScore = this.#chunks.at(-1)?.score ?? 0;
  }
}

/**
 * The first place from `from` on whose score is above `least`; the length if there is none. A small function with the
 * loop alone is compiled earlier than a search around it.
 */
export function findAbove(scores: Int32Array | Float32Array, from: number, least: number): number {
  let place = from;
  while (place < scores.length && (scores[place] as number) <= least) place++;
  return place;
}
