import type { StoreInspection } from "../store.ts";
import type { BlobFiles } from "./blob-files.ts";
import type { Database } from "./database.ts";
import { toLease } from "./leases.ts";

const MAX_MISSING = 1_000;
const BLOBS_PER_STEP = 1_000;

/** Describes the log database and compares its blobs with their files. */
export async function inspectLog(
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
