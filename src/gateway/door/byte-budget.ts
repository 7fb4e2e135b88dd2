/** Bodies up to this size may use twice the limit, so that large ones do not keep them waiting. */
const SMALL_BYTES = 1_024 * 1_024;

interface Waiting {
  readonly share: Share;
  readonly bytes: number;
  readonly grant: () => void;
}

interface Share {
  bytes: number;
}

/** Bounds the bytes that all requests under way hold together. Whoever gets no share waits, and its bytes stay with the sender. */
export class ByteBudget {
  readonly #limit: () => number;
  #held = 0;
  readonly #small: Waiting[] = [];
  readonly #large: Waiting[] = [];

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Bytes that are held now. */
  get heldBytes(): number {
    return this.#held;
  }

  /** A share without any bytes yet. */
  share(): ByteShare {
    return new ByteShare(this);
  }

  /** Raises a share to `bytes`, at once or when there is room; the signal ends the wait. */
  raise(share: Share, bytes: number, signal: AbortSignal | undefined): Promise<void> | undefined {
    const isSmall = bytes <= SMALL_BYTES;
    const queue = isSmall ? this.#small : this.#large;
    if (queue.length === 0 && this.#fits(share, bytes)) {
      this.set(share, bytes);
      return undefined;
    }
    return new Promise((resolve) => {
      const waiting = { share, bytes, grant: () => end(true) };
      const end = (isGranted: boolean) => {
        signal?.removeEventListener("abort", leave);
        if (isGranted) this.set(share, bytes);
        resolve();
      };
      const leave = () => {
        const at = queue.indexOf(waiting);
        if (at >= 0) queue.splice(at, 1);
        end(false);
        this.#letIn();
      };
      if (signal?.aborted) return end(false);
      signal?.addEventListener("abort", leave, { once: true });
      queue.push(waiting);
    });
  }

  /** Sets what a share holds, whether there is room or not. */
  set(share: Share, bytes: number): void {
    const isLess = bytes < share.bytes;
    this.#held += bytes - share.bytes;
    share.bytes = bytes;
    if (isLess) this.#letIn();
  }

  /** One that holds everything there is gets in, however large it is: it would wait for ever. */
  #fits(share: Share, bytes: number): boolean {
    const others = this.#held - share.bytes;
    const limit = this.#limit() * (bytes <= SMALL_BYTES ? 2 : 1);
    return others === 0 || others + bytes <= limit;
  }

  #letIn(): void {
    for (const queue of [this.#small, this.#large])
      for (let next = queue[0]; next && this.#fits(next.share, next.bytes); next = queue[0]) {
        queue.shift();
        next.grant();
      }
  }
}

/** What one request holds of the budget. */
export class ByteShare {
  readonly #budget: ByteBudget;
  readonly #share: Share = { bytes: 0 };

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#share.bytes;
  }

  /** Raises the share to `bytes` in all; undefined if that needs no waiting. A wait that the signal ends raises nothing. */
  raise(bytes: number, signal?: AbortSignal): Promise<void> | undefined {
    return bytes <= this.bytes ? undefined : this.#budget.raise(this.#share, bytes, signal);
  }

  /** Sets it to what is really held. */
  settle(bytes: number): void {
    this.#budget.set(this.#share, bytes);
  }

  /** Gives everything back. Idempotent. */
  give(): void {
    this.settle(0);
  }
}
