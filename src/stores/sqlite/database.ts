import { realpathSync } from "node:fs";
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
  readonly #commits: FileCommits;
  readonly #endTick = () => {
    this.#isInTick = false;
  };
  #moment = 0;
  #isInTick = false;
  /** A write transaction has begun, and nobody has asked for the moment yet. */
  #hasBegun = false;
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
    this.#commits = new FileCommits(path);
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /** Changes whenever another connection commits; caches are valid while it is unchanged. */
  dataVersion(): number {
    return (this.#dataVersion.get() as { data_version: number }).data_version;
  }

  /**
   * Changes whenever another connection may have committed: with each tick, within each write transaction of this
   * connection, and with each commit of another one in this process. A tick ends when no microtask is left, so a process
   * that learns of a commit by any event is in a later one.
   */
  get moment(): number {
    const isOthers = this.#commits.takeOthers();
    if (isOthers || this.#hasBegun || !this.#isInTick) this.#moment++;
    this.#hasBegun = false;
    if (!this.#isInTick) {
      this.#isInTick = true;
      process.nextTick(this.#endTick);
    }
    return this.#moment;
  }

  /**
   * Runs `work` in a write transaction; any throw rolls it back. Waits for other writers up to the busy timeout. Cached
   * sessions and entries are read again afterwards.
   */
  transact<T>(work: () => T): Promise<T> {
    return this.#write(work, () => {
      this.overwrites++;
    });
  }

  /**
   * `transact` for work that changes no session and no entry, or that keeps their caches right by itself: in `onCommit`,
   * which runs before anything else can.
   */
  transactBeside<T>(work: () => T, onCommit?: () => void): Promise<T> {
    return this.#write(work, onCommit);
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
    this.#commits.close();
    this.#connection.close();
  }

  #write<T>(work: () => T, onCommit: (() => void) | undefined): Promise<T> {
    return this.#retryWhileBusy(() => {
      this.#begin.run();
      this.#hasBegun = true;
      let result: T;
      try {
        result = work();
        this.#commit.run();
      } catch (error) {
        this.#undo();
        throw error;
      } finally {
        this.#hasBegun = false;
      }
      this.#commits.add();
      onCommit?.();
      return result;
    });
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

/** Commits of all connections of this process to one file. */
interface SharedCount {
  commits: number;
  connections: number;
}

const counts = new Map<string, SharedCount>();

/**
 * Tells a connection of the commits of other connections of this process to the same file, which may happen within one
 * tick; other processes can be asked about once a tick.
 */
class FileCommits {
  /** Undefined for a database in memory, which has one connection. */
  readonly #path: string | undefined;
  readonly #shared: SharedCount;
  #seen: number;

  constructor(path: string) {
    this.#path = path === ":memory:" ? undefined : realpathSync(path);
    const known = this.#path === undefined ? undefined : counts.get(this.#path);
    this.#shared = known ?? { commits: 0, connections: 0 };
    this.#shared.connections++;
    this.#seen = this.#shared.commits;
    if (this.#path !== undefined) counts.set(this.#path, this.#shared);
  }

  /** Counts a commit of the own connection. */
  add(): void {
    const isCurrent = this.#seen === this.#shared.commits;
    this.#shared.commits++;
    if (isCurrent) this.#seen++;
  }

  /** True if others have committed since the last call. */
  takeOthers(): boolean {
    if (this.#seen === this.#shared.commits) return false;
    this.#seen = this.#shared.commits;
    return true;
  }

  close(): void {
    this.#shared.connections--;
    if (this.#path !== undefined && this.#shared.connections === 0) counts.delete(this.#path);
  }
}
