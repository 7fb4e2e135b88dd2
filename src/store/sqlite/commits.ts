import type { Database } from "./database.ts";

const POLL_MS = 200;

/** Tells listeners about commits: our own at once, other processes' by looking at the data version now and then. */
export class Commits {
  readonly #db: Database;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #seen = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (!this.#timer) {
      this.#seen = this.#db.dataVersion();
      // Not unref'ed: a process that only waits for others' entries must stay alive as long as it waits.
      this.#timer = setInterval(() => this.#poll(), POLL_MS);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  announce(): void {
    for (const listener of this.#listeners) listener();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    let version: number;
    try {
      version = this.#db.dataVersion();
    } catch {
      // Nobody is here to be told; the next look, or the listener's own next read, meets the same trouble.
      return;
    }
    if (version === this.#seen) return;
    this.#seen = version;
    this.announce();
  }
}
