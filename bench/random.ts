/** Seeded pseudo-random numbers (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Adjacent seeds must not give similar numbers.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ (seed >>> 15);
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` up to, but not including, `to`. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from));
  }
}
