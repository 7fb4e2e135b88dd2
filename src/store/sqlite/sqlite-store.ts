import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "../../model/clock.ts";
import { wholeNumber } from "../../model/errors.ts";
import type { Store, StoreSize } from "../store.ts";
import { BlobFiles } from "./blob-files.ts";
import { BlobRefs } from "./blob-refs.ts";
import { SqliteBlobs } from "./blobs.ts";
import { Commits } from "./commits.ts";
import { connect } from "./connect.ts";
import type { Database } from "./database.ts";
import { Drafts } from "./drafts.ts";
import { SqliteEntries } from "./entries.ts";
import { EntryWriter } from "./entry-writer.ts";
import { Eraser } from "./eraser.ts";
import { asStoreFailure } from "./failure.ts";
import { Intakes } from "./intakes.ts";
import { Leases } from "./leases.ts";
import { SessionCache } from "./session-cache.ts";
import { SqliteSessions } from "./sessions.ts";

/** How an embedded store is opened. */
export interface SqliteStoreOptions {
  /** Folder of the store, made if missing; ":memory:" keeps nothing beyond `close`. */
  readonly path: string;
  /** "process" (default): an acknowledged append survives the death of the process; "power": also of the machine. */
  readonly durability?: "process" | "power";
  /** How long to wait for other processes before STORE_BUSY; default 30 s. */
  readonly busyTimeoutMs?: number;
  readonly clock?: Clock;
}

/** Opens the embedded store: one SQLite file and a folder of blobs. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const inMemory = options.path === ":memory:";
  const folder = inMemory ? mkdtempSync(join(tmpdir(), "longhaul-memory-")) : resolve(options.path);
  try {
    const db = await connect(inMemory ? ":memory:" : join(folder, "log.db"), {
      durability: options.durability ?? "process",
      busyTimeoutMs: wholeNumber("busyTimeoutMs", options.busyTimeoutMs ?? 30_000, 0),
    });
    try {
      const store = new SqliteStore(db, folder, inMemory, options.clock ?? systemClock);
      await store.recover();
      return store;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    if (inMemory) rmSync(folder, { recursive: true, force: true });
    throw asStoreFailure(error, folder);
  }
}

class SqliteStore implements Store {
  readonly sessions: SqliteSessions;
  readonly entries: SqliteEntries;
  readonly drafts: Drafts;
  readonly blobs: SqliteBlobs;
  readonly intakes: Intakes;
  readonly leases: Leases;
  readonly #db: Database;
  readonly #folder: string;
  readonly #inMemory: boolean;
  readonly #commits: Commits;
  readonly #eraser: Eraser;

  constructor(db: Database, folder: string, inMemory: boolean, clock: Clock) {
    this.#db = db;
    this.#folder = folder;
    this.#inMemory = inMemory;
    this.#commits = new Commits(db);
    const files = new BlobFiles(join(folder, "blobs"));
    const cache = new SessionCache(db);
    const refs = new BlobRefs(db);
    this.#eraser = new Eraser(db, files);
    this.sessions = new SqliteSessions(db, cache, this.#eraser);
    this.drafts = new Drafts(db, cache, refs);
    this.blobs = new SqliteBlobs(db, files, this.#eraser, clock);
    this.intakes = new Intakes(db, cache);
    this.leases = new Leases(db);
    this.entries = new SqliteEntries(db, {
      cache,
      writer: new EntryWriter(db, {
        cache,
        refs,
        sessions: this.sessions,
        drafts: this.drafts,
        intakes: this.intakes,
      }),
      eraser: this.#eraser,
      committed: () => this.#commits.announce(),
    });
  }

  /** Finishes what a crash cut short. */
  async recover(): Promise<void> {
    await this.#eraser.finishDeletions();
    await this.blobs.dropExpired();
  }

  onCommit(listener: () => void): () => void {
    return this.#commits.on(listener);
  }

  async size(): Promise<StoreSize> {
    const blobBytes = this.#number("SELECT coalesce(sum(size_bytes), 0) FROM blobs");
    return { logBytes: this.#logBytes(), blobBytes };
  }

  async vacuum(): Promise<{ freedBytes: number }> {
    await this.#db.emptyJournal();
    const before = this.#logBytes();
    await this.#db.exec("VACUUM");
    await this.#db.emptyJournal();
    return { freedBytes: Math.max(0, before - this.#logBytes()) };
  }

  async close(): Promise<void> {
    this.#commits.stop();
    this.#db.close();
    if (this.#inMemory) rmSync(this.#folder, { recursive: true, force: true });
  }

  #logBytes(): number {
    if (this.#inMemory) return this.#number("PRAGMA page_count") * this.#number("PRAGMA page_size");
    const sizeOf = (name: string) => statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0;
    return sizeOf("log.db") + sizeOf("log.db-wal");
  }

  #number(sql: string): number {
    return Object.values(this.#db.prepare(sql).get() ?? {})[0] as number;
  }
}
