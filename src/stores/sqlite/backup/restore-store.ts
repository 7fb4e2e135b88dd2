import { randomUUID } from "node:crypto";
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Digest } from "../../../model/blob.ts";
import { createArgumentError, LonghaulError } from "../../../model/errors.ts";
import { BlobFiles } from "../blob-files.ts";
import { resultCodeOf, toStoreError } from "../store-error.ts";
import { type BackupManifest, createBackupError, readManifest } from "./backup-manifest.ts";
import { digestFile, syncPath } from "./copy-verified.ts";

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
    const source = join(from, path);
    if (!lstatSync(source, { throwIfNoEntry: false })?.isFile())
      throw createBackupError(from, `${path} is missing`);
    const found = await digestFile(source, { ...(to !== undefined && { to: join(to, path) }), signal });
    if (found.sha256 !== sha256)
      throw createBackupError(from, `${path} has other bytes than when it was written`);
  };
  for (const { path, sha256 } of manifest.files) {
    if (isAbsolute(path) || normalize(path).startsWith("..") || path.includes("\0"))
      throw createBackupError(from, `it names a file outside of itself: ${path}`);
    await check(path, sha256);
  }
  let blobs = 0;
  for await (const digests of listBlobs(join(from, "blobs"))) {
    for (const digest of digests) {
      await check(join("blobs", digest.slice(0, 2), digest.slice(2)), digest);
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
