import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { LonghaulError } from "../../model/errors.ts";
import { BLOCKING_WAIT_MS, CACHE_KIB, readSchemaVersion, refuseForeignFile } from "./connect-database.ts";
import { Database } from "./database.ts";
import { MEMORY_MIGRATIONS } from "./memory/memory-migrations.ts";
import {
  LEDGER_MIGRATION,
  MIGRATIONS,
  PLACES_MIGRATION,
  SIGN_IN_MIGRATION,
  TEAM_MIGRATION,
} from "./migrations.ts";
import { resultCodeOf, toStoreError } from "./store-error.ts";

/** The first schema version with every table that reading needs. */
const MIN_READABLE_VERSION = 5;
const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;

/** A read-only database, and the cleanup of temporary files created for it. */
interface ReadOnlyDatabase {
  readonly database: Database;
  dispose(): void;
}

/** Opens the log for reading, even on a read-only disk. Writes fail with STORE_READ_ONLY. */
export async function connectReadOnly(path: string, busyTimeoutMs: number): Promise<ReadOnlyDatabase> {
  let opened: ReadConnection | undefined;
  try {
    refuseForeignFile(path);
    opened = openForReading(path);
    const { connection, dispose } = opened;
    connection.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}; PRAGMA cache_size = -${CACHE_KIB}`);
    const database = new Database(path, connection, busyTimeoutMs);
    const version = await database.snapshot(() => readSchemaVersion(connection, path, MIGRATIONS.length));
    if (version < MIN_READABLE_VERSION) throw createTooOldError(path, version);
    addMissingTables(connection);
    return { database, dispose };
  } catch (error) {
    opened?.connection.close();
    opened?.dispose();
    throw toStoreError(error, path);
  }
}

/** Opens the index for reading, without a copy; throws STORE_READ_ONLY if it would have to be upgraded first. */
export async function connectIndexReadOnly(path: string, busyTimeoutMs: number): Promise<Database> {
  const connection = openReadable(path);
  try {
    connection.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}; PRAGMA cache_size = -${CACHE_KIB}`);
    const version = readSchemaVersion(connection, path, MEMORY_MIGRATIONS.length);
    if (version < MEMORY_MIGRATIONS.length) throw createTooOldError(path, version);
    return new Database(path, connection, busyTimeoutMs);
  } catch (error) {
    connection.close();
    throw toStoreError(error, path);
  }
}

const ADDED_COLUMN = /ALTER TABLE (\w+) ADD COLUMN (\w+) (\w+)/g;

/** Empty tables stand for those that a database of an older version lacks. */
function addMissingTables(connection: DatabaseSync): void {
  const isKnown = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?");
  const added = { people: TEAM_MIGRATION, places: PLACES_MIGRATION, ledger: LEDGER_MIGRATION };
  for (const [table, migration] of Object.entries(added)) {
    if (isKnown.get(table)) continue;
    for (const sql of migration.match(/CREATE TABLE [\s\S]*?;\n/g) ?? [])
      connection.exec(sql.replace("CREATE TABLE", "CREATE TEMPORARY TABLE"));
  }
  for (const [, table = "", column = "", type = ""] of SIGN_IN_MIGRATION.matchAll(ADDED_COLUMN))
    addMissingColumn(connection, table, column, type);
}

/** A small table of an older version is read as a copy with the column that it lacks. */
function addMissingColumn(connection: DatabaseSync, table: string, column: string, type: string): void {
  const hasColumn = connection.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  if (hasColumn.get(table, column)) return;
  const isCopied = connection.prepare("SELECT 1 FROM temp.sqlite_schema WHERE name = ?").get(table);
  connection.exec(
    isCopied
      ? `ALTER TABLE temp.${table} ADD COLUMN ${column} ${type}`
      : `CREATE TEMPORARY TABLE ${table} AS SELECT *, NULL AS ${column} FROM main.${table}`,
  );
}

interface ReadConnection {
  readonly connection: DatabaseSync;
  dispose(): void;
}

function openForReading(path: string): ReadConnection {
  try {
    return { connection: openReadable(path), dispose: () => undefined };
  } catch (error) {
    const code = resultCodeOf(error);
    if (code !== SQLITE_CANTOPEN && code !== SQLITE_READONLY) throw error;
  }
  // SQLite cannot create the files that a journal needs here; without a journal it needs none.
  const hasJournal = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return hasJournal ? openCopy(path) : { connection: openImmutable(path), dispose: () => undefined };
}

function openReadable(path: string | URL): DatabaseSync {
  const connection = new DatabaseSync(path, { readOnly: true });
  try {
    connection.prepare("SELECT count(*) FROM sqlite_schema").get();
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function openImmutable(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return openReadable(url);
}

/** Copies database and journal to a writable folder, so that commits that exist only in the journal are not missed. */
function openCopy(path: string): ReadConnection {
  const folder = mkdtempSync(join(tmpdir(), "longhaul-read-"));
  const dispose = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = copyDatabase(path, folder);
    return { connection: openReadable(copy), dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

/** Copies a database and its journal into a folder; returns the path of the copy. */
export function copyDatabase(path: string, folder: string): string {
  const copy = join(folder, basename(path));
  copyFileSync(path, copy);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
  return copy;
}

function createTooOldError(path: string, version: number): LonghaulError {
  return new LonghaulError(
    "STORE_READ_ONLY",
    `${path} has schema version ${version} and must be upgraded to be read; copy the store to a disk that can be written.`,
    { details: { path, found: version } },
  );
}
