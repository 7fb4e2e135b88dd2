import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { LonghaulError } from "../../model/errors.ts";
import { resultCodeOf, toStoreError } from "./store-error.ts";

const SQLITE_BUSY = 5;

/** A row as SQLite returns it. */
export type Row = Record<string, SQLOutputValue>;

/**
 * One connection. Transactions are synchronous functions, so they never interleave within the process; waiting for
 * other processes does not block the event loop for long.
 */
export class Database {
  readonly path: string;
  readonly #connection: DatabaseSync;
  readonly #busyTimeoutMs: number;
  readonly #begin: StatementSync;
  readonly #beginRead: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #dataVersion: StatementSync;
  /** Changes whenever `transact` may have changed any row, and when a transaction was undone. */
  overwrites = 0;
  isClosed = false;

  constructor(path: string, connection: DatabaseSync, busyTimeoutMs: number) {
    this.path = path;
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#begin = connection.prepare("BEGIN IMMEDIATE");
    this.#beginRead = connection.prepare("BEGIN");
    this.#commit = connection.prepare("COMMIT");
    this.#rollback = connection.prepare("ROLLBACK");
    this.#dataVersion = connection.prepare("PRAGMA data_version");
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /** Changes whenever another connection commits; caches are valid while it is unchanged. */
  dataVersion(): number {
    return (this.#dataVersion.get() as { data_version: number }).data_version;
  }

  /**
   * Runs `work` in a write transaction; any throw rolls it back. Waits for other writers up to the busy timeout. Cached
   * sessions and entries are read again afterwards.
   */
  transact<T>(work: () => T): Promise<T> {
    return this.transactBeside(work, () => {
      this.overwrites++;
    });
  }

  /**
   * `transact` for work that changes no session and no entry, or that keeps their caches right by itself: in `onCommit`,
   * which runs before anything else can.
   */
  transactBeside<T>(work: () => T, onCommit?: () => void): Promise<T> {
    return this.#retryWhileBusy(() => {
      this.#begin.run();
      let result: T;
      try {
        result = work();
        this.#commit.run();
      } catch (error) {
        this.#undo();
        throw error;
      }
      onCommit?.();
      return result;
    });
  }

  /** Runs a single read; use `snapshot` for several statements. */
  read<T>(work: () => T): Promise<T> {
    return this.#retryWhileBusy(work);
  }

  /** Runs reads that must see one state, under a single lock. */
  snapshot<T>(work: () => T): Promise<T> {
    return this.#retryWhileBusy(() => {
      this.#beginRead.run();
      try {
        return work();
      } finally {
        this.#commit.run();
      }
    });
  }

  /** Checkpoints the journal into the database and truncates it; returns false if a reader prevented that. */
  async emptyJournal(): Promise<boolean> {
    const deadline = performance.now() + Math.min(this.#busyTimeoutMs, 5_000);
    for (;;) {
      const row = await this.read(() => this.#connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get());
      if (row?.busy === 0) return true;
      if (performance.now() > deadline) return false;
      await sleep(20);
    }
  }

  /** Runs a check of the file's structure and returns the problems found. */
  async verify(pragma: "integrity_check" | "quick_check", limit: number): Promise<readonly string[]> {
    const rows = await this.read(() => this.#connection.prepare(`PRAGMA ${pragma}(${limit})`).all());
    const found = rows.map((row) => String(row[pragma]));
    return found.length === 1 && found[0] === "ok" ? [] : found;
  }

  /** Makes SQLite return the memory of its page cache. */
  shrink(): void {
    if (!this.isClosed) this.#connection.exec("PRAGMA shrink_memory");
  }

  async exec(sql: string): Promise<void> {
    await this.#retryWhileBusy(() => this.#connection.exec(sql));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#connection.close();
  }

  #undo(): void {
    this.overwrites++;
    try {
      this.#rollback.run();
    } catch {
      // After some failures (disk full, I/O) SQLite has already rolled back.
    }
  }

  async #retryWhileBusy<T>(attempt: () => T): Promise<T> {
    let deadline = 0;
    for (let round = 0; ; round++) {
      if (this.isClosed) throw new LonghaulError("CLOSED", "This store is closed; open a new one.");
      try {
        return attempt();
      } catch (error) {
        if (resultCodeOf(error) !== SQLITE_BUSY) throw toStoreError(error, this.path);
        // Monotonic, because the wall clock may jump.
        const now = performance.now();
        deadline ||= now + this.#busyTimeoutMs;
        if (now >= deadline) throw toStoreError(error, this.path);
      }
      await sleep(Math.random() * Math.min(2 ** round, 50));
    }
  }
}
