import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { LonghaulError } from "../../model/errors.ts";

/**
 * Throws STORE_CORRUPT if the log is empty or missing while blobs exist: with a new log, all of
 * them would be collected.
 */
export function refuseLostLog(folder: string): void {
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
