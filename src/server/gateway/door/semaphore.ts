/**
 * Limits how many requests are read and prepared at a time. A single thread does this work, so more at once would not
 * finish sooner, and each would hold its body and everything derived from it. The bodies of waiting requests stay with
 * their senders.
 */
export class Semaphore {
  #free: number;
  readonly #holders = new Set<object>();
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  /** Waits for room. A holder takes one place, however often it asks. */
  async acquire(holder: object): Promise<void> {
    if (this.#holders.has(holder)) return;
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#holders.add(holder);
  }

  /** Releases the place of a holder to the next one. Idempotent; the holder may take a place again. */
  release(holder: object): void {
    if (!this.#holders.delete(holder)) return;
    const next = this.#waiting.shift();
    // The place passes directly to the next holder.
    if (next) next();
    else this.#free++;
  }
}
