import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LonghaulError } from "../../model/errors.ts";
import { Database } from "./database.ts";
import { MIGRATIONS } from "./migrations.ts";
import { createStoreError, toStoreError } from "./store-error.ts";

/** "LHL1": marks the file as ours. */
const APPLICATION_ID = 0x4c484c31;

/** 1 KB pages write the fewest bytes per append of a 2 KB message (docs/decisions/0003). */
const PAGE_BYTES = 1024;
/** SQLite's page cache, in KiB: enough for the upper levels of a large tree, for any log length. */
export const CACHE_KIB = 4096;
/** Approximate journal size at which it is checkpointed into the database. */
const JOURNAL_BYTES = 4 * 1024 * 1024;
/** How long SQLite may block the thread on a lock before we wait asynchronously. */
export const BLOCKING_WAIT_MS = 50;

/** Options of a connection. */
interface ConnectOptions {
  /** "process" survives the death of the process, "power" also a power loss. */
  readonly durability: "process" | "power";
  readonly busyTimeoutMs: number;
  /** The log's migrations by default. */
  readonly migrations?: readonly string[];
  readonly pageBytes?: number;
  readonly cacheKib?: number;
}

/** Opens the database file, creating or upgrading it; refuses foreign, damaged and newer files. */
export async function connectDatabase(path: string, options: ConnectOptions): Promise<Database> {
  const inMemory = path === ":memory:";
  const { migrations = MIGRATIONS, pageBytes = PAGE_BYTES, cacheKib = CACHE_KIB } = options;
  let connection: DatabaseSync | undefined;
  try {
    if (!inMemory) prepareFile(path);
    const opened = new DatabaseSync(path);
    connection = opened;
    opened.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}; PRAGMA page_size = ${pageBytes}`);
    const database = new Database(path, opened, options.busyTimeoutMs);
    // Check the version before any change: foreign files must stay untouched. Another process may be creating ours now.
    await database.snapshot(() => readSchemaVersion(opened, path, migrations.length));
    await database.exec("PRAGMA journal_mode = WAL");
    await database.exec(`
      PRAGMA synchronous = ${options.durability === "power" ? "FULL" : "NORMAL"};
      PRAGMA cache_size = -${cacheKib};
      PRAGMA wal_autocheckpoint = ${JOURNAL_BYTES / pageBytes};
      PRAGMA journal_size_limit = ${JOURNAL_BYTES * 2};
      PRAGMA secure_delete = ON;
      PRAGMA temp_store = MEMORY;
    `);
    await migrate(database, opened, path, migrations);
    return database;
  } catch (error) {
    connection?.close();
    throw toStoreError(error, path);
  }
}

function prepareFile(path: string): void {
  const folder = dirname(path);
  // Check access here, because SQLite and mkdir on a read-only disk do not report the reason.
  accessSync(findNearestExisting(folder), constants.W_OK);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (existsSync(path)) {
    accessSync(path, constants.W_OK);
    refuseForeignFile(path);
    hideFromOthers(path);
    return;
  }
  // Create the file before SQLite does, because SQLite would make it readable by others.
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
}

/** Removes access for other users if the file is ours; SQLite gives its journal the same permissions. */
function hideFromOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found || (found.mode & 0o077) === 0) continue;
    try {
      chmodSync(file, 0o600);
    } catch {
      // The file belongs to another user, who decides on its permissions.
    }
  }
}

function findNearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findNearestExisting(dirname(folder));
}

/** Throws STORE_CORRUPT unless the file is empty or has the SQLite header. */
export function refuseForeignFile(path: string): void {
  const size = statSync(path).size;
  if (size === 0) return;
  const header = new Uint8Array(16);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  if (new TextDecoder("latin1").decode(header) !== "SQLite format 3\0")
    throw createStoreError("STORE_CORRUPT", path);
}

/** The schema version of an empty database or one of ours; throws STORE_FOREIGN or SCHEMA_TOO_NEW. */
export function readSchemaVersion(connection: DatabaseSync, path: string, known: number): number {
  const pragma = (name: string) =>
    Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number;
  const version = pragma("user_version");
  const isOurs = pragma("application_id") === APPLICATION_ID;
  const isEmpty = pragma("page_count") <= 1 && version === 0;
  if (!isOurs && !isEmpty) {
    throw new LonghaulError(
      "STORE_FOREIGN",
      `${path} is a SQLite database of another program; give longhaul a folder of its own. It was left as it is.`,
      { details: { path } },
    );
  }
  if (version <= known) return version;
  throw new LonghaulError(
    "SCHEMA_TOO_NEW",
    `${path} has schema version ${version}; this longhaul knows up to ${known}. Update longhaul to open it. It was left as it is.`,
    { details: { path, found: version, known } },
  );
}

async function migrate(
  database: Database,
  connection: DatabaseSync,
  path: string,
  migrations: readonly string[],
): Promise<void> {
  const version = await database.snapshot(() => readSchemaVersion(connection, path, migrations.length));
  if (version === migrations.length) return;
  await database.transact(() => {
    // Check again under the lock: another process may have migrated meanwhile.
    for (const [index, sql] of migrations.entries()) {
      if (index < readSchemaVersion(connection, path, migrations.length)) continue;
      connection.exec(
        `${sql}; PRAGMA user_version = ${index + 1}; PRAGMA application_id = ${APPLICATION_ID}`,
      );
    }
  });
}
