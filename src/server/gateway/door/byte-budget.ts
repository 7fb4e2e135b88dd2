/** Bodies up to this size may use twice the limit, so that they need not wait for large ones. */
const SMALL_BYTES = 1_024 * 1_024;

interface WaitingShare {
  readonly share: ByteCount;
  readonly bytes: number;
  readonly grant: () => void;
}

interface ByteCount {
  bytes: number;
}

/**
 * Limits the total bytes held by all requests in progress. A request without a share waits, and its body stays with the
 * sender.
 */
export class ByteBudget {
  readonly #limit: () => number;
  #held = 0;
  readonly #small: WaitingShare[] = [];
  readonly #large: WaitingShare[] = [];

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Bytes held at this moment. */
  get heldBytes(): number {
    return this.#held;
  }

  /** A new share of 0 bytes. */
  openShare(): ByteShare {
    return new ByteShare(this);
  }

  /** Raises a share to `bytes` if there is room and nothing waits for it; returns whether it did. */
  raiseAtOnce(share: ByteCount, bytes: number): boolean {
    if (this.#chooseQueue(bytes).length > 0 || !this.#fits(share, bytes)) return false;
    this.set(share, bytes);
    return true;
  }

  /** Raises a share to `bytes`, immediately or as soon as there is room; aborting the signal ends the wait. */
  async raise(share: ByteCount, bytes: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.raiseAtOnce(share, bytes)) return;
    const queue = this.#chooseQueue(bytes);
    await new Promise<void>((resolve) => {
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
        this.#grantWaiting();
      };
      if (signal?.aborted) return end(false);
      signal?.addEventListener("abort", leave, { once: true });
      queue.push(waiting);
    });
  }

  /** Sets the size of a share, even if there is no room. */
  set(share: ByteCount, bytes: number): void {
    const isLess = bytes < share.bytes;
    this.#held += bytes - share.bytes;
    share.bytes = bytes;
    if (isLess) this.#grantWaiting();
  }

  #chooseQueue(bytes: number): WaitingShare[] {
    return bytes <= SMALL_BYTES ? this.#small : this.#large;
  }

  /** A share that no other competes with always fits, however large, since it would otherwise wait forever. */
  #fits(share: ByteCount, bytes: number): boolean {
    const others = this.#held - share.bytes;
    const limit = this.#limit() * (bytes <= SMALL_BYTES ? 2 : 1);
    return others === 0 || others + bytes <= limit;
  }

  #grantWaiting(): void {
    for (const queue of [this.#small, this.#large])
      for (let next = queue[0]; next && this.#fits(next.share, next.bytes); next = queue[0]) {
        queue.shift();
        next.grant();
      }
  }
}

/** The part of the budget that one request holds. */
export class ByteShare {
  readonly #budget: ByteBudget;
  readonly #share: ByteCount = { bytes: 0 };

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#share.bytes;
  }

  /** Raises the share to `bytes` in total without waiting; false if it would have to wait. */
  raiseAtOnce(bytes: number): boolean {
    return bytes <= this.bytes || this.#budget.raiseAtOnce(this.#share, bytes);
  }

  /** Raises the share to `bytes` in total. An aborted wait raises nothing. */
  async raise(bytes: number, signal?: AbortSignal): Promise<void> {
    if (bytes > this.bytes) await this.#budget.raise(this.#share, bytes, signal);
  }

  /** Sets the share to the bytes that are actually held. */
  settle(bytes: number): void {
    this.#budget.set(this.#share, bytes);
  }

  /** Releases the whole share. Idempotent. */
  release(): void {
    this.settle(0);
  }
}
