/**
 * Lets a few requests at a time be read and prepared. One thread does all of that: more at once would not end sooner, and
 * each of them would hold its body and what was made of it. The bytes of those that wait stay with their senders.
 */
export class Turnstile {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** A place that is not taken yet. */
  place(): Place {
    return new Place(
      () => this.#enter(),
      () => this.#leave(),
    );
  }

  #enter(): Promise<void> | undefined {
    if (this.#inside >= this.#most) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#inside++;
    return undefined;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    // The place goes from hand to hand.
    if (next) next();
    else this.#inside--;
  }
}

/** The place of one request. */
export class Place {
  readonly #enter: () => Promise<void> | undefined;
  readonly #leave: () => void;
  #isTaken = false;

  constructor(enter: () => Promise<void> | undefined, leave: () => void) {
    this.#enter = enter;
    this.#leave = leave;
  }

  /** Waits until there is room. Nothing to wait for if it is taken already. */
  async take(): Promise<void> {
    if (this.#isTaken) return;
    await this.#enter();
    this.#isTaken = true;
  }

  /** Lets the next one in. Idempotent; it may be taken again. */
  give(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#leave();
  }
}
