/** Seeded random numbers (xorshift), so that every run has the same conversation. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Spread out, because adjacent seeds would start similarly; zero is the one fixed point.
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

  /** An integer from 0 to just below `end`. */
  below(end: number): number {
    return this.bits() % end;
  }

  /** A random element of the list. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
