import { randomUUID } from "node:crypto";
import type { EntryStore } from "../../log/store/entry-store.ts";
import { withEntryForgetting, withSessionForgetting } from "../../log/store/forgetting-stores.ts";
import type { SessionStore } from "../../log/store/session-store.ts";
import type { FileSearch, Store, StoreInspection, StoreSize } from "../../log/store/store.ts";
import { checkFields, checkTexts } from "../../model/argument-checks.ts";
import { type Clock, systemClock } from "../../model/clock.ts";
import { checkWholeNumber } from "../../model/errors.ts";
import { BlobReferences } from "./blobs/blob-references.ts";
import { ObjectBlobs } from "./blobs/objects/object-blobs.ts";
import { ObjectClient } from "./blobs/objects/object-client.ts";
import { parseObjectUrl } from "./blobs/objects/object-url.ts";
import { PostgresBlobs } from "./blobs/postgres-blobs.ts";
import { PostgresEraser } from "./blobs/postgres-eraser.ts";
import { connectPool } from "./connection/connect-pool.ts";
import { parseConnectionUrl, type RecallPlace } from "./connection/connection-url.ts";
import { PostgresDatabase } from "./connection/postgres-database.ts";
import { PostgresDelivery } from "./delivery/postgres-delivery.ts";
import { LogHeads } from "./heads/log-heads.ts";
import { inspectTables, LOG_TABLE_NAMES, measureTables, searchServerFiles } from "./inspect-tables.ts";
import { CommitBell } from "./log/commit-bell.ts";
import { EntryAppender } from "./log/entry-appender.ts";
import { EntryPartitions } from "./log/entry-partitions.ts";
import { PostgresDrafts } from "./log/postgres-drafts.ts";
import { PostgresEntries } from "./log/postgres-entries.ts";
import { PostgresPlaces } from "./log/postgres-places.ts";
import { PostgresSessions } from "./log/postgres-sessions.ts";
import { PostgresMemory } from "./memory/postgres-memory.ts";
import { PostgresIntakes } from "./records/postgres-intakes.ts";
import { PostgresLeases } from "./records/postgres-leases.ts";
import { PostgresSharedStates } from "./records/postgres-shared-states.ts";
import { PostgresTasks } from "./records/postgres-tasks.ts";
import { PostgresTransfer } from "./records/postgres-transfer.ts";
import type { SendTask } from "./records/task-writes.ts";
import { migrateSchema, requireSchema } from "./schema/migrate-schema.ts";
import { ReaderAccess } from "./schema/reader-access.ts";
import { PostgresAudit } from "./team/postgres-audit.ts";
import { PostgresBudgets } from "./team/postgres-budgets.ts";
import { PostgresPeople } from "./team/postgres-people.ts";

/** How long opening waits for a server that cannot be reached. */
const MAX_OPENING_MS = 5_000;

/** Options of a PostgreSQL store. */
export interface PostgresStoreOptions {
  /**
   * `postgres://user:password@host/database`, with several hosts separated by commas for failover. Parameters:
   * `schema` (longhaul by default), `max_connections` (10), `target_session_attrs` (read-write), `recall` (auto), and
   * those of pg.
   */
  readonly url: string;
  /** How long to try again after lost connections and conflicts with others; 30 s by default. */
  readonly busyTimeoutMs?: number;
  readonly clock?: Clock;
  /**
   * Storage of new blobs, such as `s3://bucket/prefix?endpoint=https://…`; default: the URL's parameter `blobs`, else
   * `LONGHAUL_BLOBS`, else the database.
   */
  readonly blobs?: string;
  /**
   * Opens an existing store for reading, restricted to the sessions of some owners ("@alice/", or a whole id) by policies
   * of the server; default: the URL's parameter `reader`, separated by commas.
   */
  readonly reader?: readonly string[];
  /** Opens an existing store for reading only, also on a standby; writes fail with STORE_READ_ONLY. */
  readonly isReadOnly?: boolean;
}

/** Opens a store in a PostgreSQL database, creating or upgrading its schema. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  checkFields("options", options, {
    url: "name",
    clock: "object?",
    blobs: "text?",
    isReadOnly: "boolean?",
  });
  const busyTimeoutMs = checkWholeNumber("busyTimeoutMs", options.busyTimeoutMs ?? 30_000, 0);
  const url = parseConnectionUrl(options.url);
  const reader = options.reader ? checkTexts("reader", options.reader) : url.reader;
  const isReadOnly = options.isReadOnly ?? false;
  const blobs = options.blobs ?? url.blobs ?? (process.env.LONGHAUL_BLOBS || undefined);
  const storage = blobs === undefined ? undefined : new ObjectClient(parseObjectUrl(blobs));
  const connected = await connectPool(url, isReadOnly);
  const db = new PostgresDatabase(connected, {
    where: url.shown,
    schema: url.schema,
    busyTimeoutMs,
    isReadOnly,
  });
  try {
    await db.retry(() => db.once("SELECT 1"), Math.min(busyTimeoutMs, MAX_OPENING_MS));
    if (isReadOnly || reader) await requireSchema(db);
    else await migrateSchema(db);
    const store = new PostgresStore(reader ? await new ReaderAccess(db).open(reader) : db, {
      recall: url.recall,
      storage,
      clock: options.clock ?? systemClock,
    });
    if (!isReadOnly && !reader) await store.recover();
    return store;
  } catch (error) {
    await db.close();
    throw error;
  }
}

interface StoreSettings {
  readonly recall: RecallPlace;
  readonly storage: ObjectClient | undefined;
  readonly clock: Clock;
}

class PostgresStore implements Store {
  readonly sessions: SessionStore;
  readonly entries: EntryStore;
  readonly places: PostgresPlaces;
  readonly drafts: PostgresDrafts;
  readonly blobs: PostgresBlobs;
  readonly intakes: PostgresIntakes;
  readonly leases: PostgresLeases;
  readonly tasks: PostgresTasks;
  readonly delivery: PostgresDelivery;
  readonly people: PostgresPeople;
  readonly budgets: PostgresBudgets;
  readonly audit: PostgresAudit;
  readonly memory: PostgresMemory;
  readonly transfer: PostgresTransfer;
  readonly sharedStates: PostgresSharedStates;
  readonly #db: PostgresDatabase;
  readonly #bell: CommitBell;
  readonly #eraser: PostgresEraser;
  readonly #clock: Clock;

  constructor(db: PostgresDatabase, { recall, storage, clock }: StoreSettings) {
    this.#db = db;
    this.#clock = clock;
    this.#bell = new CommitBell(db);
    const objects = storage && new ObjectBlobs(db, storage);
    this.#eraser = new PostgresEraser(db, objects);
    this.memory = new PostgresMemory(db, recall);
    const onCommit = () => this.#bell.announce();
    const heads = new LogHeads();
    const references = new BlobReferences();
    const eraser = this.#eraser;
    const sessions = new PostgresSessions(db, {
      heads,
      eraser,
      partitions: new EntryPartitions(db),
      readers: new ReaderAccess(db),
      onCommit,
    });
    this.sessions = withSessionForgetting(sessions, this.memory);
    this.drafts = new PostgresDrafts(db, heads, references);
    this.blobs = new PostgresBlobs(db, { references, eraser, objects });
    this.intakes = new PostgresIntakes(db, heads);
    this.places = new PostgresPlaces(db);
    this.leases = new PostgresLeases(db);
    this.delivery = new PostgresDelivery(db);
    const sendTask: SendTask = (transaction, task) => this.delivery.send(transaction, task);
    this.tasks = new PostgresTasks(db, heads, sendTask);
    this.audit = new PostgresAudit(db);
    this.people = new PostgresPeople(db, this.audit);
    this.budgets = new PostgresBudgets(db, this.audit);
    this.sharedStates = new PostgresSharedStates(db);
    this.transfer = new PostgresTransfer(db, heads, this);
    const deps = { heads, sessions, references, drafts: this.drafts, intakes: this.intakes, sendTask };
    const appender = new EntryAppender(db, deps, clock);
    this.entries = withEntryForgetting(
      new PostgresEntries(db, { heads, appender, eraser, onCommit }),
      this.memory,
    );
  }

  /** Finishes work that a crash interrupted. */
  async recover(): Promise<void> {
    await this.#eraser.finishDeletions();
  }

  onCommit(listener: () => void): () => void {
    return this.#bell.on(listener);
  }

  async size(): Promise<StoreSize> {
    const [row] = await this.#db.query("SELECT coalesce(sum(size_bytes), 0)::bigint AS bytes FROM @blobs");
    return {
      logBytes: await measureTables(this.#db, LOG_TABLE_NAMES),
      blobBytes: row?.bytes as number,
      memoryBytes: await this.memory.sizeBytes(),
    };
  }

  async probe(): Promise<void> {
    const lease = { name: "probe", owner: randomUUID(), expiresAt: 0 };
    await this.leases.claim(lease, 0);
    await this.leases.release(lease.name, lease.owner);
  }

  cacheBytes(): number {
    return this.memory.cacheBytes();
  }

  dropCaches(): void {
    this.memory.dropCaches();
  }

  inspect(): Promise<StoreInspection> {
    return inspectTables(this.#db, this.#clock.now());
  }

  async vacuum(): Promise<{ freedBytes: number }> {
    const before = await measureTables(this.#db, LOG_TABLE_NAMES);
    // A plain vacuum marks the space of deleted rows as free and leaves their bytes there. This one copies each table
    // into new files, under a lock.
    for (const table of LOG_TABLE_NAMES) await this.#db.command(`VACUUM FULL @${table}`);
    await this.memory.vacuum();
    return { freedBytes: Math.max(0, before - (await measureTables(this.#db, LOG_TABLE_NAMES))) };
  }

  searchFiles(texts: readonly string[]): Promise<FileSearch> {
    return searchServerFiles(this.#db, texts);
  }

  async close(): Promise<void> {
    await this.delivery.close();
    await this.#bell.close();
    await this.#db.close();
  }
}
