import { randomUUID } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { joinInside } from "../../../model/base/join-inside.ts";
import type { Digest } from "../../../model/blob.ts";
import { type Clock, systemClock } from "../../../model/clock.ts";
import {
  createArgumentError,
  isLonghaulError,
  LonghaulError,
  throwIfAborted,
} from "../../../model/errors.ts";
import { BlobFiles } from "../blob-files.ts";
import { BLOCKING_WAIT_MS, refuseForeignFile } from "../connect-database.ts";
import { Database } from "../database.ts";
import { resultCodeOf, toStoreError } from "../store-error.ts";
import {
  type BackupFile,
  type BackupManifest,
  createBackupError,
  readManifest,
  writeManifest,
} from "./backup-manifest.ts";
import { digestFile, syncPath } from "./copy-verified.ts";

const ROWS_PER_STEP = 20_000;
const QUOTE = /"/g;

/** Options of a backup. */
export interface BackupOptions {
  readonly signal?: AbortSignal;
}

/** Folders and services of a backup. */
interface BackupRequest extends BackupOptions {
  readonly from: string;
  readonly to: string;
  readonly clock?: Clock;
}

/** Settings of the user that live next to the store; they hold no secrets. */
const SETTINGS = ["longhaul.json", "longhaul.gateway.json"];
const LOG = "log.db";
const INDEX = "memory.db";
const BUSY_TIMEOUT_MS = 30_000;
/** Attempts while another process deletes content that the backup has not copied yet. */
const MAX_ATTEMPTS = 3;

/**
 * Copies a store into a new folder while others write to it. The backup holds every entry that was acknowledged before
 * it began, and is complete or absent: it gets its name when all digests are known.
 */
export async function backupSqliteStore(request: BackupRequest): Promise<BackupManifest> {
  const { from, to } = request;
  if (existsSync(to) && readdirSync(to).length > 0)
    throw createArgumentError("to", to, "an empty or new folder");
  const staged = join(dirname(to), `.${basename(to)}.partial-${randomUUID().slice(0, 8)}`);
  try {
    refuseReadOnly(from);
    refuseForeignFile(join(from, "log.db"));
    mkdirSync(staged, { recursive: true, mode: 0o700 });
    const manifest = await writeBackup(request, staged);
    await syncPath(staged);
    renameSync(staged, to);
    await syncPath(dirname(to));
    return manifest;
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    throw toStoreError(error, from);
  }
}

/** A backup locks the store for a moment, which a folder that cannot be written does not allow. */
function refuseReadOnly(from: string): void {
  try {
    for (const path of [from, join(from, LOG)]) accessSync(path, constants.W_OK);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return;
    throw new LonghaulError(
      "STORE_READ_ONLY",
      `${from} cannot be written, and a backup locks the store for a moment. Nobody else writes to a read-only disk either: copy the folder as it is (cp -r), and open the copy.`,
      { cause, details: { path: from } },
    );
  }
}

async function writeBackup(request: BackupRequest, staged: string): Promise<BackupManifest> {
  const { from, to, signal, clock = systemClock } = request;
  const path = join(from, "log.db");
  const connection = new DatabaseSync(path);
  try {
    connection.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
    const live = new Database(path, connection, BUSY_TIMEOUT_MS);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const createdAt = clock.now();
      const copied = await copyDatabases(live, from, staged, signal);
      const blobs = await copyBlobs(copied.digests, join(from, "blobs"), join(staged, "blobs"), signal);
      // A blob whose row is gone too was deleted after the copy of the log, which still refers to it.
      const isKnown = live.prepare("SELECT 1 FROM blobs WHERE digest = ?");
      const deleted = await live.read(() =>
        blobs.missing.filter((digest) => !isKnown.get(Buffer.from(digest, "hex"))),
      );
      if (deleted.length > 0) continue;
      const files: BackupFile[] = [];
      for (const name of copied.names)
        files.push({ path: name, ...(await digestFile(join(staged, name), { signal })) });
      for (const name of SETTINGS) {
        if (!existsSync(join(from, name))) continue;
        copyFileSync(join(from, name), join(staged, name));
        files.push({ path: name, ...(await digestFile(join(staged, name))) });
      }
      for (const { path: name } of files) await syncPath(join(staged, name));
      const { sessions, entries } = copied;
      const damagedBlobs = [...blobs.missing, ...blobs.damaged];
      return writeManifest(staged, {
        createdAt,
        sessions,
        entries,
        blobs: blobs.blobs,
        blobBytes: blobs.blobBytes,
        damagedBlobs,
        files,
      });
    }
  } finally {
    connection.close();
  }
  throw new LonghaulError(
    "STORE_BUSY",
    `Other processes delete content of ${from} while it is copied to ${to}; repeat the backup when they are done. Nothing was left behind.`,
    { details: { path: from } },
  );
}

/** The databases of a backup: the log, and the index if there is one, as of one moment. */
async function copyDatabases(live: Database, from: string, staged: string, signal: AbortSignal | undefined) {
  for (const name of [LOG, INDEX]) rmSync(join(staged, name), { force: true });
  const log = new TableCopy(join(from, LOG), join(staged, LOG));
  let index: TableCopy | undefined;
  try {
    // Under the write lock of the log both copies begin at the same entry, so that the index is never ahead of the log.
    await live.transact(() => {
      log.begin();
      index = beginIndex(from, staged);
    });
    await log.run(signal);
    const hasIndex = index !== undefined && (await isUndamaged(() => index?.run(signal)));
    if (!hasIndex) {
      index?.close();
      rmSync(join(staged, INDEX), { force: true });
    }
    return {
      names: hasIndex ? [LOG, INDEX] : [LOG],
      sessions: log.read("SELECT count(*) FROM main.sessions WHERE id IS NOT NULL")[0] as number,
      entries: log.read("SELECT count(*) FROM main.entries")[0] as number,
      digests: log
        .read("SELECT digest FROM main.blobs")
        .map((digest) => Buffer.from(digest as Uint8Array).toString("hex")),
    };
  } finally {
    log.close();
    index?.close();
  }
}

/** Begins the copy of the index; undefined if there is none, or if it is damaged: it is derived from the log. */
function beginIndex(from: string, staged: string): TableCopy | undefined {
  if (!existsSync(join(from, INDEX))) return undefined;
  let copy: TableCopy | undefined;
  try {
    copy = new TableCopy(join(from, INDEX), join(staged, INDEX));
    copy.begin();
    return copy;
  } catch (error) {
    copy?.close();
    if (isDamage(error)) return undefined;
    throw error;
  }
}

async function isUndamaged(work: () => Promise<void> | undefined): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

function isDamage(error: unknown): boolean {
  return isLonghaulError(toStoreError(error, INDEX), "STORE_CORRUPT");
}

/** Result of copying blobs. */
interface CopiedBlobs {
  readonly blobs: number;
  readonly blobBytes: number;
  /** Blobs without a file. */
  readonly missing: readonly Digest[];
  /** Blobs whose bytes do not have their digest; they are not copied. */
  readonly damaged: readonly Digest[];
}

/** Copies blobs that are not in the target yet; each copy is verified while it is read. */
async function copyBlobs(
  digests: Iterable<Digest>,
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<CopiedBlobs> {
  const [source, target] = [new BlobFiles(from, true), new BlobFiles(to)];
  const missing: Digest[] = [];
  const damaged: Digest[] = [];
  let blobs = 0;
  let blobBytes = 0;
  for (const digest of digests) {
    const path = target.pathOf(digest);
    const isCopied = existsSync(path);
    if (!isCopied) {
      try {
        const { sha256 } = await digestFile(source.pathOf(digest), { to: path, signal });
        if (sha256 !== digest) {
          damaged.push(digest);
          await rm(path, { force: true });
          continue;
        }
      } catch (error) {
        const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
        if (code !== "ENOENT") {
          await rm(path, { force: true });
          throw error;
        }
        missing.push(digest);
        continue;
      }
    }
    blobs++;
    blobBytes += target.sizeOf(digest) ?? 0;
  }
  return { blobs, blobBytes, missing, damaged };
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** Copies one database into a new file, as of the moment of `begin`, while other connections continue writing. */
class TableCopy {
  readonly #target: DatabaseSync;
  #tables: readonly SchemaRow[] = [];

  constructor(source: string, target: string) {
    // Created here, because SQLite would make the file readable by others.
    closeSync(openSync(target, "wx", 0o600));
    this.#target = new DatabaseSync(target);
    // The file is synced when it is complete; an incomplete copy is thrown away.
    this.#target.exec(
      "PRAGMA busy_timeout = 5000; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY",
    );
    this.#target.prepare("ATTACH ? AS source").run(source);
    this.#target.exec(`PRAGMA main.page_size = ${this.#readPragma("source.page_size")}`);
    this.#target.exec("PRAGMA main.journal_mode = OFF");
  }

  /** Fixes the state to copy: later commits of other connections stay invisible. */
  begin(): void {
    this.#target.exec("BEGIN");
    const rows = this.#target
      .prepare(
        "SELECT type, name, sql FROM source.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
      )
      .all();
    this.#tables = rows as unknown as readonly SchemaRow[];
  }

  /** Copies all tables, then their indexes. */
  async run(signal: AbortSignal | undefined): Promise<void> {
    for (const { sql } of this.#tables.filter(({ type }) => type === "table")) this.#target.exec(sql);
    for (const { name, sql } of this.#tables.filter(({ type }) => type === "table"))
      await this.#copyRows(name, sql, signal);
    if (this.#hasSequences()) {
      this.#target.exec("DELETE FROM main.sqlite_sequence");
      this.#target.exec("INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence");
    }
    for (const { sql } of this.#tables.filter(({ type }) => type !== "table")) {
      throwIfAborted(signal);
      this.#target.exec(sql);
      await setImmediate();
    }
    for (const name of ["user_version", "application_id"])
      this.#target.exec(`PRAGMA main.${name} = ${this.#readPragma(`source.${name}`)}`);
    this.#target.exec("COMMIT");
  }

  /** The first column of every row that a query on the copy returns. */
  read(sql: string): unknown[] {
    return this.#target
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  }

  close(): void {
    if (this.#target.isOpen) this.#target.close();
  }

  async #copyRows(name: string, sql: string, signal: AbortSignal | undefined): Promise<void> {
    const table = `"${name.replace(QUOTE, '""')}"`;
    if (/WITHOUT\s+ROWID/i.test(sql)) {
      throwIfAborted(signal);
      this.#target.exec(`INSERT INTO main.${table} SELECT * FROM source.${table}`);
      await setImmediate();
      return;
    }
    const bounds = this.#target.prepare(
      `SELECT max(rowid) AS last, count(*) AS rows FROM (SELECT rowid FROM source.${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_PER_STEP})`,
    );
    const copy = this.#target.prepare(
      `INSERT INTO main.${table} SELECT * FROM source.${table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid`,
    );
    for (let after = Number.MIN_SAFE_INTEGER; ; ) {
      throwIfAborted(signal);
      const { last, rows } = bounds.get(after) as { last: number | null; rows: number };
      if (last === null) return;
      copy.run(after, last);
      after = last;
      if (rows < ROWS_PER_STEP) return;
      await setImmediate();
    }
  }

  #hasSequences(): boolean {
    return this.read("SELECT 1 FROM source.sqlite_schema WHERE name = 'sqlite_sequence'").length > 0;
  }

  #readPragma(name: string): number {
    return this.read(`PRAGMA ${name}`)[0] as number;
  }
}

const LOCAL_FILES = ["trusted.json", "connections"];

/** Options of a restore. */
export interface RestoreOptions {
  /** Moves an existing store aside instead of refusing to restore over it. */
  readonly replace?: boolean;
  readonly signal?: AbortSignal;
}

/** Result of a restore. */
export interface RestoreReport {
  readonly manifest: BackupManifest;
  /** The folder that the former store was moved to. */
  readonly movedTo?: string;
}

/** Reads a whole backup and checks every digest; BACKUP_INVALID names the first file that differs. */
export function verifyBackupFolder(folder: string, signal?: AbortSignal): Promise<BackupManifest> {
  return copyBackup(folder, undefined, signal);
}

/** Copies a verified backup into a new store; the target appears complete or not at all. */
export async function restoreSqliteStore(
  from: string,
  to: string,
  { replace, signal }: RestoreOptions,
): Promise<RestoreReport> {
  const isTaken = existsSync(to) && readdirSync(to).length > 0;
  if (isTaken && !replace) throw createArgumentError("to", to, "an empty or new folder, or replace: true");
  if (isTaken && isStoreInUse(to)) throw createInUseError(to);
  const staged = join(dirname(to), `.${basename(to)}.restoring-${randomUUID().slice(0, 8)}`);
  try {
    mkdirSync(staged, { recursive: true, mode: 0o700 });
    const manifest = await copyBackup(from, staged, signal);
    await syncPath(staged);
    if (!isTaken) {
      renameSync(staged, to);
      return { manifest };
    }
    if (isStoreInUse(to)) throw createInUseError(to);
    const movedTo = chooseFreeName(`${to}.before-restore`);
    // Records of this computer, which a backup does not hold: trusted files and connected agents.
    for (const name of LOCAL_FILES)
      if (existsSync(join(to, name))) cpSync(join(to, name), join(staged, name), { recursive: true });
    renameSync(to, movedTo);
    renameSync(staged, to);
    return { manifest, movedTo };
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    throw toStoreError(error, to);
  }
}

/** Verifies all files of a backup; with `to`, also copies them. */
async function copyBackup(
  from: string,
  to: string | undefined,
  signal: AbortSignal | undefined,
): Promise<BackupManifest> {
  const manifest = readManifest(from);
  const check = async (path: string, sha256: string) => {
    const refuse = (error: unknown) => {
      throw createBackupError(from, `it names a file outside of itself: ${path}`, error);
    };
    const source = await joinInside(from, path).catch(refuse);
    const target = to === undefined ? undefined : await joinInside(to, path).catch(refuse);
    if (!lstatSync(source, { throwIfNoEntry: false })?.isFile())
      throw createBackupError(from, `${path} is missing`);
    const found = await digestFile(source, { ...(target !== undefined && { to: target }), signal });
    if (found.sha256 !== sha256)
      throw createBackupError(from, `${path} has other bytes than when it was written`);
  };
  for (const { path, sha256 } of manifest.files) {
    await check(path, sha256);
  }
  let blobs = 0;
  for await (const digests of listBlobs(join(from, "blobs"))) {
    for (const digest of digests) {
      await check(`blobs/${digest.slice(0, 2)}/${digest.slice(2)}`, digest);
      blobs++;
    }
  }
  if (blobs !== manifest.blobs)
    throw createBackupError(from, `it holds ${blobs} blobs; it was written with ${manifest.blobs}`);
  return manifest;
}

async function* listBlobs(folder: string): AsyncGenerator<Digest[]> {
  if (existsSync(folder)) yield* new BlobFiles(folder, true).digests();
}

function chooseFreeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!existsSync(name)) return name;
  }
}

function createInUseError(path: string): LonghaulError {
  return new LonghaulError(
    "STORE_BUSY",
    `${path} is open in another process; stop the gateway and other programs that use it, then restore. Nothing was changed.`,
    { details: { path } },
  );
}

const SQLITE_BUSY = 5;

/** True if another connection of this or any process has the log of a store open. */
function isStoreInUse(folder: string): boolean {
  const path = join(folder, "log.db");
  if (!existsSync(path)) return false;
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(path);
    // Connections in WAL mode share a lock for as long as they are open; an exclusive one needs all of them gone.
    connection.exec("PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch (error) {
    // A damaged log cannot be in use any more than it can be read.
    return resultCodeOf(error) === SQLITE_BUSY;
  } finally {
    connection?.close();
  }
}
