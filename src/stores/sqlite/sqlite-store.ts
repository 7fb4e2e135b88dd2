import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { EntryStore } from "../../log/store/entry-store.ts";
import { forgetErased } from "../../log/store/forgetting-stores.ts";
import type { Lease, LeaseStore } from "../../log/store/lease-store.ts";
import type { SessionStore } from "../../log/store/session-store.ts";
import type { Store, StoreInspection, StoreSize } from "../../log/store/store.ts";
import { type Clock, systemClock } from "../../model/clock.ts";
import { checkWholeNumber, isLonghaulError, LonghaulError } from "../../model/errors.ts";
import { BlobFiles } from "./blob-files.ts";
import { BlobHolds } from "./blob-holds.ts";
import { BlobRefs } from "./blob-refs.ts";
import { connectDatabase } from "./connect-database.ts";
import { connectIndexReadOnly, connectReadOnly, copyDatabase } from "./connect-read-only.ts";
import type { Database, Row } from "./database.ts";
import { Drafts } from "./drafts.ts";
import { Eraser } from "./eraser.ts";
import { Intakes } from "./intakes.ts";
import { SqliteMemory } from "./memory/sqlite-memory.ts";
import { SessionCache } from "./session-cache.ts";
import { SqliteBlobs } from "./sqlite-blobs.ts";
import { EntryWriter, SqliteEntries } from "./sqlite-entries.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";
import { SqlitePlaces } from "./sqlite-places.ts";
import { SqliteSessions } from "./sqlite-sessions.ts";
import { SqliteTasks } from "./sqlite-tasks.ts";
import { SqliteTransfer } from "./sqlite-transfer.ts";
import { toStoreError } from "./store-error.ts";
import { SqliteAudit } from "./team/sqlite-audit.ts";
import { SqliteBudgets } from "./team/sqlite-budgets.ts";
import { SqlitePeople } from "./team/sqlite-people.ts";

/** Limit of reported database problems. */
const MAX_PROBLEMS = 100;

/** Options of an embedded store. */
export interface SqliteStoreOptions {
  /** Folder of the store, created if missing; ":memory:" keeps nothing after `close`. */
  readonly path: string;
  /** "process" (default): an acknowledged append survives the death of the process; "power": also a power loss. */
  readonly durability?: "process" | "power";
  /** How long to wait for other processes before STORE_BUSY; 30 s by default. */
  readonly busyTimeoutMs?: number;
  readonly clock?: Clock;
  /**
   * Opens an existing store for reading only, even on a read-only disk; writes fail with STORE_READ_ONLY. The index is
   * copied and brought up to date, or with "with-index" read as it is, without a copy.
   */
  readonly isReadOnly?: boolean | "with-index";
}

const POLL_MS = 200;

/** Opens the embedded store: one SQLite file and a folder of blobs. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const inMemory = options.path === ":memory:";
  const folder = inMemory ? mkdtempSync(join(tmpdir(), "longhaul-memory-")) : resolve(options.path);
  const pathOf = (name: string) => (inMemory ? ":memory:" : join(folder, name));
  try {
    const busyTimeoutMs = checkWholeNumber("busyTimeoutMs", options.busyTimeoutMs ?? 30_000, 0);
    const durability = options.durability ?? "process";
    const clock = options.clock ?? systemClock;
    if (options.isReadOnly && !inMemory)
      return await openReadOnly(folder, busyTimeoutMs, clock, options.isReadOnly === "with-index");
    if (!inMemory) refuseLostLog(folder);
    const db = await connectDatabase(pathOf("log.db"), { durability, busyTimeoutMs });
    try {
      const memory = new SqliteMemory(pathOf("memory.db"), busyTimeoutMs);
      const store = new SqliteStore(db, { folder, inMemory, memory, clock });
      await store.recover();
      return store;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    if (inMemory) rmSync(folder, { recursive: true, force: true });
    throw toStoreError(error, folder);
  }
}

/** Opens the log read-only and copies the index to a temporary folder, where it can be updated. */
async function openReadOnly(
  folder: string,
  busyTimeoutMs: number,
  clock: Clock,
  isIndexRead: boolean,
): Promise<Store> {
  const { database, dispose } = await connectReadOnly(join(folder, "log.db"), busyTimeoutMs);
  const index = join(folder, "memory.db");
  if (isIndexRead && existsSync(index)) {
    const memory = new SqliteMemory(index, busyTimeoutMs, undefined, () =>
      connectIndexReadOnly(index, busyTimeoutMs),
    );
    const shared = { folder, inMemory: false, memory, clock, isReadOnly: true, onClose: dispose };
    return new SqliteStore(database, shared);
  }
  const scratch = mkdtempSync(join(tmpdir(), "longhaul-index-"));
  const memory = new SqliteMemory(join(scratch, "memory.db"), busyTimeoutMs, () => {
    if (existsSync(index)) copyDatabase(index, scratch);
  });
  const onClose = () => {
    dispose();
    rmSync(scratch, { recursive: true, force: true });
  };
  return new SqliteStore(database, { folder, inMemory: false, memory, clock, isReadOnly: true, onClose });
}

interface SqliteStoreDeps {
  readonly folder: string;
  readonly inMemory: boolean;
  readonly memory: SqliteMemory;
  readonly clock: Clock;
  readonly isReadOnly?: boolean;
  readonly onClose?: () => void;
}

class SqliteStore implements Store {
  readonly sessions: SessionStore;
  readonly entries: EntryStore;
  readonly places: SqlitePlaces;
  readonly drafts: Drafts;
  readonly blobs: SqliteBlobs;
  readonly intakes: Intakes;
  readonly leases: Leases;
  readonly ledger: SqliteLedger;
  readonly tasks: SqliteTasks;
  readonly people: SqlitePeople;
  readonly budgets: SqliteBudgets;
  readonly audit: SqliteAudit;
  readonly transfer: SqliteTransfer;
  readonly memory: SqliteMemory;
  readonly #db: Database;
  readonly #folder: string;
  readonly #inMemory: boolean;
  readonly #files: BlobFiles;
  readonly #clock: Clock;
  readonly #commits: Commits;
  readonly #cache: SessionCache;
  readonly #eraser: Eraser;
  readonly #logPath: string;
  readonly #inode: number | undefined;
  readonly #onClose: (() => void) | undefined;

  constructor(db: Database, parts: SqliteStoreDeps) {
    const { folder, inMemory, memory, clock, isReadOnly } = parts;
    this.#db = db;
    this.#onClose = parts.onClose;
    this.#logPath = join(folder, "log.db");
    this.#inode = readInode(this.#logPath);
    this.memory = memory;
    this.#folder = folder;
    this.#inMemory = inMemory;
    this.#commits = new Commits(db);
    const files = new BlobFiles(join(folder, "blobs"), isReadOnly);
    this.#files = files;
    this.#clock = clock;
    const cache = new SessionCache(db);
    this.#cache = cache;
    const refs = new BlobRefs(db);
    const holds = new BlobHolds(db, clock);
    this.#eraser = new Eraser(db, files);
    const committed = this.#commits.announce;
    const sessions = new SqliteSessions(db, cache, this.#eraser, committed);
    this.sessions = sessions;
    this.drafts = new Drafts(db, cache, { refs, holds });
    this.blobs = new SqliteBlobs(db, { files, holds, eraser: this.#eraser, clock });
    this.intakes = new Intakes(db, cache);
    this.places = new SqlitePlaces(db, cache);
    this.leases = new Leases(db);
    this.ledger = new SqliteLedger(db);
    this.tasks = new SqliteTasks(db, cache);
    this.audit = new SqliteAudit(db);
    this.people = new SqlitePeople(db, this.audit);
    this.budgets = new SqliteBudgets(db, this.audit);
    this.transfer = new SqliteTransfer(db, cache, this);
    this.entries = new SqliteEntries(db, {
      cache,
      writer: new EntryWriter(db, {
        cache,
        refs,
        holds,
        sessions,
        drafts: this.drafts,
        intakes: this.intakes,
        places: this.places,
        tasks: this.tasks,
        clock,
      }),
      eraser: this.#eraser,
      onCommit: committed,
    });
    forgetErased(this, memory);
  }

  /** Finishes work that a crash interrupted. */
  async recover(): Promise<void> {
    await this.#eraser.finishDeletions();
    await this.blobs.dropAbandoned();
  }

  onCommit(listener: () => void): () => void {
    return this.#commits.on(listener);
  }

  async size(): Promise<StoreSize> {
    const blobBytes = this.#number("SELECT coalesce(sum(size_bytes), 0) FROM blobs");
    return { logBytes: this.#logBytes(), blobBytes, memoryBytes: await this.memory.sizeBytes() };
  }

  async probe(): Promise<void> {
    if (!this.#inMemory && readInode(this.#logPath) !== this.#inode) {
      throw new LonghaulError(
        "STORE_IO",
        `${this.#logPath} was removed or replaced while it was open: what is written now is lost. Restart the program.`,
        { details: { path: this.#logPath } },
      );
    }
    const lease = { name: "probe", owner: randomUUID(), expiresAt: 0 };
    await this.leases.claim(lease, 0);
    await this.leases.release(lease.name, lease.owner);
  }

  async verify(): Promise<readonly string[]> {
    try {
      return await this.#db.verify("integrity_check", MAX_PROBLEMS);
    } catch (error) {
      if (!isLonghaulError(error, "STORE_CORRUPT")) throw error;
      return [error.message];
    }
  }

  async checkpoint(): Promise<boolean> {
    const isEmpty = await this.#db.emptyJournal();
    return (this.memory.isOpen ? await this.memory.scrub() : true) && isEmpty;
  }

  async journalBytes(): Promise<number> {
    if (this.#inMemory) return 0;
    const journals = ["log.db-wal", "memory.db-wal"].map((name) => join(this.#folder, name));
    return journals.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  cacheBytes(): number {
    return this.memory.cacheBytes() + this.#cache.sizeBytes;
  }

  dropCaches(): void {
    this.memory.dropCaches();
    this.#cache.forgetAll();
    this.#db.shrink();
  }

  async inspect(): Promise<StoreInspection> {
    return {
      ...(await inspectLog(this.#db, this.#files, this.#clock.now())),
      journalBytes: await this.journalBytes(),
      indexProblems: await this.memory.verify(),
    };
  }

  async vacuum(): Promise<{ freedBytes: number }> {
    await this.#db.emptyJournal();
    const before = this.#logBytes();
    await this.#db.exec("VACUUM");
    await this.#db.emptyJournal();
    await this.memory.vacuum();
    return { freedBytes: Math.max(0, before - this.#logBytes()) };
  }

  async close(): Promise<void> {
    this.#commits.stop();
    await this.memory.close();
    this.#db.close();
    this.#onClose?.();
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

/** The inode of the file at a path; undefined if there is none. */
function readInode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/**
 * Throws STORE_CORRUPT if the log is empty or missing while blobs exist: with a new log, all of
 * them would be collected.
 */
function refuseLostLog(folder: string): void {
  const path = join(folder, "log.db");
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0 || !hasBlobs(join(folder, "blobs"))) return;
  throw new LonghaulError(
    "STORE_CORRUPT",
    `${path} is empty or missing, but the blobs of a store are beside it; restore log.db from a backup, or move the folder "blobs" away to begin a new store. Nothing was changed.`,
    { details: { path } },
  );
}

function hasBlobs(folder: string): boolean {
  return listNames(folder).some(
    (name) => /^[0-9a-f]{2}$/.test(name) && listNames(join(folder, name)).length > 0,
  );
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const MAX_MISSING = 1_000;
const BLOBS_PER_STEP = 1_000;

/** Describes the log database and compares its blobs with their files. */
async function inspectLog(
  db: Database,
  files: BlobFiles,
  now: number,
): Promise<Omit<StoreInspection, "journalBytes" | "indexProblems">> {
  const readNumber = (sql: string) => db.read(() => Object.values(db.prepare(sql).get() ?? {})[0] as number);
  const pageBytes = await readNumber("PRAGMA page_size");
  const leases = db.prepare("SELECT name, owner, expires_at FROM leases WHERE expires_at < ? LIMIT 1000");
  return {
    schemaVersion: await readNumber("PRAGMA user_version"),
    freeBytes: (await readNumber("PRAGMA freelist_count")) * pageBytes,
    blobs: await readNumber("SELECT count(*) FROM blobs"),
    missingBlobs: await findMissingBlobs(db, files),
    expiredLeases: await db.read(() => leases.all(now).map(toLease)),
    drafts: await readNumber("SELECT count(*) FROM drafts"),
  };
}

async function findMissingBlobs(db: Database, files: BlobFiles): Promise<readonly string[]> {
  const page = db.prepare(
    `SELECT digest, size_bytes FROM blobs WHERE digest > ? ORDER BY digest LIMIT ${BLOBS_PER_STEP}`,
  );
  const missing: string[] = [];
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    const rows = await db.read(() => page.all(after));
    for (const row of rows) {
      after = row.digest as Uint8Array;
      const digest = Buffer.from(after).toString("hex");
      if (files.sizeOf(digest) !== row.size_bytes) missing.push(digest);
      if (missing.length === MAX_MISSING) return missing;
    }
    if (rows.length < BLOBS_PER_STEP) return missing;
  }
}

/** Notifies listeners of commits: of this process at once, of other processes by polling the data version. */
class Commits {
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

  readonly announce = (): void => {
    for (const listener of this.#listeners) listener();
  };

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

/** Leases in SQLite. */
class Leases implements LeaseStore {
  readonly #db: Database;
  readonly #statements;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = {
      get: db.prepare("SELECT name, owner, expires_at FROM leases WHERE name = ?"),
      list: db.prepare(
        "SELECT name, owner, expires_at FROM leases WHERE substr(name, 1, ?) = ? ORDER BY name",
      ),
      put: db.prepare(
        "INSERT INTO leases (name, owner, expires_at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at",
      ),
      dropExpired: db.prepare("DELETE FROM leases WHERE expires_at < ?"),
      remove: db.prepare("DELETE FROM leases WHERE name = ? AND owner = ?"),
    };
  }

  claim({ name, owner, expiresAt }: Lease, now: number): Promise<Lease | undefined> {
    return this.#db.transactBeside(() => {
      const row = this.#statements.get.get(name);
      const known = row && toLease(row);
      if (known && known.owner !== owner && known.expiresAt > now) return known;
      this.#statements.put.run(name, owner, expiresAt);
      return undefined;
    });
  }

  async release(name: string, owner: string): Promise<void> {
    await this.#db.transactBeside(() => {
      this.#statements.remove.run(name, owner);
    });
  }

  dropExpired(before: number): Promise<number> {
    return this.#db.transactBeside(() => Number(this.#statements.dropExpired.run(before).changes));
  }

  list(prefix: string): Promise<readonly Lease[]> {
    return this.#db.read(() => this.#statements.list.all([...prefix].length, prefix).map(toLease));
  }

  get(name: string): Promise<Lease | undefined> {
    return this.#db.read(() => {
      const row = this.#statements.get.get(name);
      return row && toLease(row);
    });
  }
}

/** A lease as its row holds it. */
function toLease(row: Row): Lease {
  return { name: row.name as string, owner: row.owner as string, expiresAt: row.expires_at as number };
}
