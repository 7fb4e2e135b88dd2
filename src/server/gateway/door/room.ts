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

/** Bodies up to this size may use twice the limit, so that they need not wait for large ones. */
const SMALL_BYTES = 1_024 * 1_024;

interface WaitingShare {
  readonly share: ByteShare;
  readonly bytes: number;
  readonly grant: () => void;
}

/**
 * Limits the total bytes held by all requests in progress. A request without a share waits, and its body stays with the
 * sender.
 */
export class HeldBytes {
  readonly limit: () => number;
  /** Bytes held at this moment. */
  heldBytes = 0;
  readonly small: WaitingShare[] = [];
  readonly large: WaitingShare[] = [];

  constructor(limit: () => number) {
    this.limit = limit;
  }
}

/** The part of the bytes that one request holds. */
export class ByteShare {
  readonly #held: HeldBytes;
  bytes = 0;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** Raises the share to `bytes` in total if there is room and nothing waits for it; false if it would have to wait. */
  raiseAtOnce(bytes: number): boolean {
    if (bytes <= this.bytes) return true;
    const { small, large } = this.#held;
    const queue = bytes <= SMALL_BYTES ? small : large;
    if (queue.length > 0 || !fits(this.#held, this, bytes)) return false;
    this.settle(bytes);
    return true;
  }

  /** Raises the share to `bytes` in total, at once or as soon as there is room. An aborted wait raises nothing. */
  async raise(bytes: number, signal?: AbortSignal): Promise<void> {
    if (this.raiseAtOnce(bytes)) return;
    const { small, large } = this.#held;
    const queue = bytes <= SMALL_BYTES ? small : large;
    await new Promise<void>((resolve) => {
      const waiting = { share: this, bytes, grant: () => end(true) };
      const end = (isGranted: boolean) => {
        signal?.removeEventListener("abort", leave);
        if (isGranted) this.settle(bytes);
        resolve();
      };
      const leave = () => {
        const at = queue.indexOf(waiting);
        if (at >= 0) queue.splice(at, 1);
        end(false);
        grantWaiting(this.#held);
      };
      if (signal?.aborted) return end(false);
      signal?.addEventListener("abort", leave, { once: true });
      queue.push(waiting);
    });
  }

  /** Sets the share to the bytes that are actually held, even if there is no room; 0 releases it. */
  settle(bytes: number): void {
    const isLess = bytes < this.bytes;
    this.#held.heldBytes += bytes - this.bytes;
    this.bytes = bytes;
    if (isLess) grantWaiting(this.#held);
  }
}

/** A share that no other competes with always fits, however large, since it would otherwise wait forever. */
function fits({ heldBytes, limit }: HeldBytes, share: ByteShare, bytes: number): boolean {
  const others = heldBytes - share.bytes;
  return others === 0 || others + bytes <= limit() * (bytes <= SMALL_BYTES ? 2 : 1);
}

function grantWaiting(held: HeldBytes): void {
  for (const queue of [held.small, held.large])
    for (let next = queue[0]; next && fits(held, next.share, next.bytes); next = queue[0]) {
      queue.shift();
      next.grant();
    }
}
