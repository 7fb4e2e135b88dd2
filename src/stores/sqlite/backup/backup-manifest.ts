import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { computeDigest } from "../../../model/base/digest.ts";
import { readOutsideFileSync } from "../../../model/base/outside-file.ts";
import { LonghaulError } from "../../../model/errors.ts";

/** Name of the file that describes a backup; it is written last. */
const MANIFEST_NAME = "backup.json";
const FORMAT = "longhaul-backup";
const VERSION = 1;
/** A manifest names a few files. */
const MAX_BYTES = 4 * 1_024 * 1_024;

/** A file of a backup other than a blob, whose name is its digest. */
export interface BackupFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The content of a backup. */
export interface BackupManifest {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  /** When the state of the store was fixed, in milliseconds since 1970. */
  readonly createdAt: number;
  readonly sessions: number;
  readonly entries: number;
  readonly blobs: number;
  readonly blobBytes: number;
  /** Blobs that the store refers to and that it could not read. */
  readonly damagedBlobs: readonly string[];
  readonly files: readonly BackupFile[];
}

/** Writes the manifest with its own digest, which tells a damaged one. */
export function writeManifest(
  folder: string,
  content: Omit<BackupManifest, "format" | "version">,
): BackupManifest {
  const manifest: BackupManifest = { format: FORMAT, version: VERSION, ...content };
  const sha256 = computeDigest(JSON.stringify(manifest));
  const text = `${JSON.stringify({ ...manifest, sha256 }, undefined, 2)}\n`;
  writeFileSync(join(folder, MANIFEST_NAME), text, { mode: 0o600, flush: true });
  return manifest;
}

/** Reads the manifest of a backup; BACKUP_INVALID if there is none, or it is damaged or newer than this version. */
export function readManifest(folder: string): BackupManifest {
  const path = join(folder, MANIFEST_NAME);
  let parsed: Partial<BackupManifest> & { sha256?: unknown };
  try {
    parsed = JSON.parse(readOutsideFileSync(path, { maxBytes: MAX_BYTES }).toString("utf8")) ?? {};
  } catch (error) {
    throw createBackupError(folder, `${MANIFEST_NAME} is missing or no JSON`, error);
  }
  const { sha256, ...manifest } = parsed;
  if (manifest.format !== FORMAT)
    throw createBackupError(folder, `${MANIFEST_NAME} is no manifest of longhaul`);
  if (manifest.version !== VERSION)
    throw createBackupError(
      folder,
      `it has version ${manifest.version}; this longhaul reads version ${VERSION}`,
    );
  if (sha256 !== computeDigest(JSON.stringify(manifest)))
    throw createBackupError(folder, `${MANIFEST_NAME} was changed after it was written`);
  return manifest as BackupManifest;
}

/** The error for a folder that cannot be restored. */
export function createBackupError(folder: string, why: string, cause?: unknown): LonghaulError {
  return new LonghaulError(
    "BACKUP_INVALID",
    `${folder} is no usable backup: ${why}. Take another backup, or copy the readable part with "longhaul repair --store ${folder}". Nothing was changed.`,
    { cause, details: { path: folder } },
  );
}
