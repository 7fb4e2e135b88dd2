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
    return new SemaphorePermit(
      () => this.#enter(),
      () => this.#leave(),
    );
  }

  #enter(): Promise<void> | undefined {
    if (this.#inside >= this.#maxInside) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#inside++;
    return undefined;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    // The place passes directly to the next request.
    if (next) next();
    else this.#inside--;
  }
}

/** The place of one request. */
class SemaphorePermit {
  readonly #enter: () => Promise<void> | undefined;
  readonly #leave: () => void;
  #isTaken = false;

  constructor(enter: () => Promise<void> | undefined, leave: () => void) {
    this.#enter = enter;
    this.#leave = leave;
  }

  /** Waits for room; returns at once if the place is already taken. */
  async acquire(): Promise<void> {
    if (this.#isTaken) return;
    await this.#enter();
    this.#isTaken = true;
  }

  /** Releases the place to the next request. Idempotent; the place may be taken again. */
  release(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#leave();
  }
}
