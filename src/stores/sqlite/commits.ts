import type { Database } from "./database.ts";

const POLL_MS = 200;

/** Notifies listeners of commits: of this process at once, of other processes by polling the data version. */
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
      // Not unref'ed: a process that only waits for entries of others must stay alive.
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
      // Polling has no caller to report to; the next poll or the listener's next read will fail the same way.
      return;
    }
    if (version === this.#seen) return;
    this.#seen = version;
    this.announce();
  }
}
