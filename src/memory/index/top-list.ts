/** Keeps the best of what is offered; of equal scores, what has the smaller number. */
export class TopList {
  readonly #limit: number;
  #chunks: { chunk: number; score: number }[] = [];
  #least = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What does not score more than this need not be offered. */
  get least(): number {
    return this.#least;
  }

  offer(chunk: number, score: number): void {
    if (score <= this.#least) return;
    this.#chunks.push({ chunk, score });
    // Cut back now and then, which costs less than keeping order all the time.
    if (this.#chunks.length >= this.#limit * 4) this.#cut();
  }

  /** Best first. */
  best(): readonly { readonly chunk: number; readonly score: number }[] {
    this.#cut();
    return this.#chunks;
  }

  #cut(): void {
    this.#chunks.sort((left, right) => right.score - left.score || left.chunk - right.chunk);
    this.#chunks = this.#chunks.slice(0, this.#limit);
    if (this.#chunks.length === this.#limit) this.#least = this.#chunks.at(-1)?.score ?? 0;
  }
}
