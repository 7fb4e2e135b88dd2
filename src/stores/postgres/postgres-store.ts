import { randomUUID } from "node:crypto";
import type { EntryStore } from "../../log/store/entry-store.ts";
import { forgetErased } from "../../log/store/forgetting-stores.ts";
import type { PlaceStore, StoredPlace, UnplacedSession } from "../../log/store/place-store.ts";
import type { SessionStore } from "../../log/store/session-store.ts";
import type { NamedState, SharedStateStore } from "../../log/store/shared-state-store.ts";
import type { FileSearch, Store, StoreInspection, StoreSize } from "../../log/store/store.ts";
import { checkFields, checkTexts } from "../../model/argument-checks.ts";
import { type Clock, systemClock } from "../../model/clock.ts";
import type { SessionId } from "../../model/entry.ts";
import { checkWholeNumber } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { BlobReferences } from "./blobs/blob-references.ts";
import { ObjectBlobs } from "./blobs/objects/object-blobs.ts";
import { ObjectClient } from "./blobs/objects/object-client.ts";
import { parseObjectUrl } from "./blobs/objects/object-url.ts";
import { PostgresBlobs } from "./blobs/postgres-blobs.ts";
import { PostgresEraser } from "./blobs/postgres-eraser.ts";
import { connectPool } from "./connection/connect-pool.ts";
import { parseConnectionUrl } from "./connection/connection-url.ts";
import { PostgresDatabase } from "./connection/postgres-database.ts";
import type { SqlRow } from "./connection/sql-values.ts";
import { PostgresDelivery } from "./delivery/postgres-delivery.ts";
import { LogHeads } from "./heads/log-heads.ts";
import { inspectTables, LOG_TABLE_NAMES, measureTables, searchServerFiles } from "./inspect-tables.ts";
import { CommitBell } from "./log/commit-bell.ts";
import { EntryAppender } from "./log/entry-appender.ts";
import { EntryPartitions } from "./log/entry-partitions.ts";
import { PostgresDrafts } from "./log/postgres-drafts.ts";
import { PostgresEntries } from "./log/postgres-entries.ts";
import { PostgresSessions } from "./log/postgres-sessions.ts";
import { PostgresMemory } from "./memory/postgres-memory.ts";
import { PostgresIntakes } from "./records/postgres-intakes.ts";
import { PostgresLeases } from "./records/postgres-leases.ts";
import { PostgresLedger } from "./records/postgres-ledger.ts";
import { PostgresTasks, type SendTask } from "./records/postgres-tasks.ts";
import { PostgresTransfer } from "./records/postgres-transfer.ts";
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
   * `schema` (longhaul by default), `max_connections` (10), `target_session_attrs` (read-write), and those of
   * pg.
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

/** First half of the advisory lock's key; the second is made of the schema's name. */
const LOCK_CLASS = 0x4c4c;

/** Entries of one key that are searched for the last ones of their sessions. */
const MAX_CONSIDERED = 10_000;

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
  readonly ledger: PostgresLedger;
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

  constructor(db: PostgresDatabase, { storage, clock }: StoreSettings) {
    this.#db = db;
    this.#clock = clock;
    this.#bell = new CommitBell(db);
    const objects = storage && new ObjectBlobs(db, storage);
    this.#eraser = new PostgresEraser(db, objects);
    this.memory = new PostgresMemory(db);
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
    this.sessions = sessions;
    this.drafts = new PostgresDrafts(db, heads, references);
    this.blobs = new PostgresBlobs(db, { references, eraser, objects });
    this.intakes = new PostgresIntakes(db, heads);
    this.places = new PostgresPlaces(db);
    this.leases = new PostgresLeases(db);
    this.ledger = new PostgresLedger(db);
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
    this.entries = new PostgresEntries(db, { heads, appender, eraser, onCommit });
    forgetErased(this, this.memory);
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

/** States that gateways share, in PostgreSQL. */
class PostgresSharedStates implements SharedStateStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  change(
    names: readonly string[],
    change: (stored: ReadonlyMap<string, Json>) => ReadonlyMap<string, Json>,
  ): Promise<readonly NamedState[]> {
    return this.#db.transact(async (transaction) => {
      // Rows that do not exist yet cannot be locked.
      await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [
        LOCK_CLASS,
        this.#db.schema,
      ]);
      const rows = await transaction.query(
        "SELECT name, value FROM @shared_states WHERE name = ANY($1::text[])",
        [names],
      );
      const changed = change(new Map(rows.map(toState).map(({ name, value }) => [name, value])));
      await transaction.query(
        `INSERT INTO @shared_states (name, value, changed_at)
         SELECT n, v, clock_timestamp() FROM unnest($1::text[], $2::text[]) AS given (n, v)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at`,
        [[...changed.keys()], [...changed.values()].map((value) => JSON.stringify(value))],
      );
      return [...changed].map(([name, value]) => ({ name, value }));
    });
  }

  async listChanged(withinMs: number): Promise<readonly NamedState[]> {
    const rows = await this.#db.query(
      "SELECT name, value FROM @shared_states WHERE changed_at > clock_timestamp() - $1 * interval '1 millisecond'",
      [withinMs],
    );
    return rows.map(toState);
  }

  async dropUnchanged(withinMs: number): Promise<void> {
    await this.#db.query(
      "DELETE FROM @shared_states WHERE changed_at < clock_timestamp() - $1 * interval '1 millisecond'",
      [withinMs],
    );
  }
}

function toState(row: SqlRow): NamedState {
  return { name: row.name as string, value: JSON.parse(row.value as string) as Json };
}

/** Keys of entries in PostgreSQL. */
class PostgresPlaces implements PlaceStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  find(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]> {
    return this.#findWhere("true", limit, keys, limit);
  }

  findLast(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]> {
    const isLast = "NOT EXISTS (SELECT 1 FROM @places l WHERE l.session = o.session AND l.seq > o.seq)";
    return this.#findWhere(isLast, MAX_CONSIDERED, keys, limit);
  }

  async #findWhere(
    condition: string,
    considered: number,
    keys: readonly string[],
    limit: number,
  ): Promise<readonly StoredPlace[]> {
    if (keys.length === 0) return [];
    const rows = await this.#db.query(
      `SELECT encode(k.key, 'hex') AS key, s.id AS session, p.seq
       FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, place) CROSS JOIN LATERAL (
         SELECT o.session, o.seq FROM (
           SELECT c.session, c.seq FROM @places c WHERE c.key = k.key ORDER BY c.session DESC, c.seq DESC LIMIT $3
         ) o WHERE ${condition} ORDER BY o.session DESC, o.seq DESC LIMIT $2
       ) p JOIN @sessions s ON s.number = p.session
       WHERE s.id IS NOT NULL ORDER BY k.place, p.session DESC, p.seq DESC`,
      [keys.map((key) => Buffer.from(key, "hex")), limit, considered],
    );
    return rows.map(({ key, session, seq }) => ({
      key: key as string,
      session: session as string,
      seq: seq as number,
    }));
  }

  async put(places: readonly StoredPlace[]): Promise<void> {
    if (places.length === 0) return;
    await this.#db.transact(async (transaction) => {
      await transaction.query(
        `INSERT INTO @places (key, session, seq)
         SELECT g.key, s.number, g.seq FROM unnest($1::bytea[], $2::text[], $3::int[]) AS g (key, session, seq)
         JOIN @sessions s ON s.id = g.session JOIN @entries e ON e.session = s.number AND e.seq = g.seq
         ON CONFLICT DO NOTHING`,
        [
          places.map(({ key }) => Buffer.from(key, "hex")),
          places.map(({ session }) => session),
          places.map(({ seq }) => seq),
        ],
      );
    });
  }

  async ofSession(session: SessionId): Promise<readonly StoredPlace[]> {
    const rows = await this.#db.query(
      `SELECT encode(p.key, 'hex') AS key, p.seq FROM @places p JOIN @sessions s ON s.number = p.session
       WHERE s.id = $1 ORDER BY p.seq, p.key`,
      [session],
    );
    return rows.map(({ key, seq }) => ({ key: key as string, session, seq: seq as number }));
  }

  async listUnplaced({
    after = 0,
    limit,
  }: {
    after?: number;
    limit: number;
  }): Promise<readonly UnplacedSession[]> {
    const rows = await this.#db.query(
      `SELECT s.number, s.id FROM @sessions s WHERE s.id IS NOT NULL AND s.number > $1
         AND NOT EXISTS (SELECT 1 FROM @places p WHERE p.session = s.number) ORDER BY s.number LIMIT $2`,
      [after, limit],
    );
    return rows.map(({ number, id }) => ({ session: id as string, place: number as number }));
  }
}
