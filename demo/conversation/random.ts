/** A seeded source of numbers (xorshift), so that every run tells the same conversation. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Spread out, because neighbouring seeds would begin alike; zero is the one state that never moves.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) || 1;
  }

  /** The next 32 bits. */
  bits(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return state >>> 0;
  }

  /** A whole number from 0 to just below `end`. */
  below(end: number): number {
    return this.bits() % end;
  }

  /** One of the list. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
