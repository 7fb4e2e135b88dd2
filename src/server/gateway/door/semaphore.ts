/**
 * Limits how many requests are read and prepared at a time. A single thread does this work, so more at once would not
 * finish sooner, and each would hold its body and everything derived from it. The bodies of waiting requests stay with
 * their senders.
 */
export class Semaphore {
  readonly #maxInside: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(most: number) {
    this.#maxInside = most;
  }

  /** A new place, not yet taken. */
  createPermit(): SemaphorePermit {
    return new SemaphorePermit(this);
  }

  /** For permits only. */
  async enter(): Promise<void> {
    if (this.#inside < this.#maxInside) this.#inside++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** For permits only. */
  leave(): void {
    const next = this.#waiting.shift();
    // The place passes directly to the next request.
    if (next) next();
    else this.#inside--;
  }
}

/** The place of one request. */
class SemaphorePermit {
  readonly #semaphore: Semaphore;
  #isTaken = false;

  constructor(semaphore: Semaphore) {
    this.#semaphore = semaphore;
  }

  /** Waits for room. */
  async acquire(): Promise<void> {
    if (this.#isTaken) return;
    await this.#semaphore.enter();
    this.#isTaken = true;
  }

  /** Releases the place to the next request. Idempotent; the place may be taken again. */
  release(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#semaphore.leave();
  }
}
