import type { Pool, PoolClient } from "pg";

/** A connection in use; a failure means that it is broken. */
interface LentClient {
  readonly client: PoolClient;
  failure: unknown;
}

/** How long an unused connection is kept out of the pool. */
const KEEP_MS = 1_000;

/**
 * Lends the connections of a pool one at a time. The one that came back last is kept out of the pool for the next
 * borrower, unless somebody waits for it: the queue, timers and listeners of a pool cost a tenth of an append.
 */
export class ClientLender {
  readonly #pool: Pool;
  readonly #keepMs: number;
  readonly #listeners = new WeakMap<LentClient, (error: Error) => void>();
  #kept: LentClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  #uses = 0;
  #isEnding = false;

  constructor(pool: Pool, keepMs = KEEP_MS) {
    this.#pool = pool;
    this.#keepMs = keepMs;
  }

  /** The kept connection at once, else one of the pool. */
  lend(): LentClient | Promise<LentClient> {
    const kept = this.#kept;
    if (!kept) return this.#connect();
    this.#kept = undefined;
    this.#uses++;
    return kept;
  }

  takeBack(lent: LentClient): void {
    const isNeeded = this.#kept !== undefined || this.#pool.waitingCount > 0 || this.#isEnding;
    if (isNeeded || lent.failure !== undefined) {
      this.#release(lent);
      return;
    }
    this.#kept = lent;
    this.#timer ??= this.#watch();
  }

  /** Ends all connections, those in use after their return. */
  end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    this.#releaseKept();
    return this.#pool.end();
  }

  async #connect(): Promise<LentClient> {
    const client = await this.#pool.connect();
    const lent: LentClient = { client, failure: undefined };
    const onError = (error: Error) => {
      lent.failure = error;
      if (this.#kept === lent) this.#releaseKept();
    };
    client.on("error", onError);
    this.#listeners.set(lent, onError);
    return lent;
  }

  /** Returns the kept connection to the pool once nobody has used it for that long. */
  #watch(): NodeJS.Timeout {
    const uses = this.#uses;
    return setTimeout(() => {
      this.#timer = undefined;
      if (this.#uses === uses) this.#releaseKept();
      else if (this.#kept) this.#timer = this.#watch();
    }, this.#keepMs).unref();
  }

  #releaseKept(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept) this.#release(kept);
  }

  #release(lent: LentClient): void {
    const listener = this.#listeners.get(lent);
    if (listener) lent.client.off("error", listener);
    // A broken connection is not used again.
    lent.client.release(lent.failure !== undefined);
  }
}
