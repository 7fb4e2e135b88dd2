import type { FileSearch, StoreInspection } from "../../log/store/store.ts";
import type { PostgresDatabase } from "./connection/postgres-database.ts";
import { toLeaseRecord } from "./records/postgres-leases.ts";
import { readStoreVersion } from "./schema/migrate-schema.ts";

const MAX_LISTED = 1_000;

/** Tables of the log; that of the entries stands for its partitions. */
export const LOG_TABLE_NAMES = [
  "entries",
  "sessions",
  "heads",
  "places",
  "drafts",
  "blobs",
  "blob_uploads",
  "blob_deletions",
  "blob_pieces",
  "entry_blobs",
  "draft_blobs",
  "blob_holds",
  "intakes",
  "intake_records",
  "people",
  "person_tokens",
  "budgets",
  "budget_uses",
  "budget_reservations",
  "audit",
  "leases",
  "ledger",
  "tasks",
  "shared_states",
] as const;

/** Bytes on disk of tables with their partitions and indexes. */
export async function measureTables(db: PostgresDatabase, tables: readonly string[]): Promise<number> {
  const [row] = await db.query(
    `SELECT coalesce(sum(pg_total_relation_size(t.relid)), 0)::bigint AS bytes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     CROSS JOIN LATERAL (
       SELECT relid FROM pg_partition_tree(c.oid) UNION SELECT c.oid
     ) t WHERE n.nspname = $1 AND c.relname = ANY($2::text[])`,
    [db.schema, [...tables]],
  );
  return row?.bytes as number;
}

/** Describes the tables and compares the blobs with their pieces; reads no content. */
export async function inspectTables(db: PostgresDatabase, now: number): Promise<StoreInspection> {
  const count = async (table: string) =>
    (await db.query(`SELECT count(*) AS count FROM @${table}`))[0]?.count as number;
  const missing = await db.query(
    `SELECT encode(b.digest, 'hex') AS digest FROM @blobs b
     WHERE b.place IS NULL AND b.size_bytes <> (SELECT coalesce(sum(length(p.bytes)), 0) FROM @blob_pieces p WHERE p.upload = b.upload)
     ORDER BY b.digest LIMIT ${MAX_LISTED}`,
  );
  const leases = await db.query(
    `SELECT name, owner, expires_at FROM @leases WHERE expires_at < $1 LIMIT ${MAX_LISTED}`,
    [now],
  );
  // The share of dead rows, as the server last counted them.
  const [free] = await db.query(
    `SELECT coalesce(sum(pg_relation_size(relid) * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1)), 0)::bigint AS bytes
     FROM pg_stat_user_tables WHERE schemaname = $1`,
    [db.schema],
  );
  const [server] = await db.query("SELECT current_setting('server_version') AS version");
  return {
    server: `PostgreSQL ${server?.version} at ${db.where}`,
    schemaVersion: await readStoreVersion(db, db),
    journalBytes: 0,
    freeBytes: free?.bytes as number,
    blobs: await count("blobs"),
    missingBlobs: missing.map(({ digest }) => digest as string),
    expiredLeases: leases.map(toLeaseRecord),
    drafts: await count("drafts"),
    indexProblems: [],
  };
}

const SEGMENT_BYTES = 1_073_741_824;
const READ_BYTES = 8 * 1024 * 1024;

/**
 * Searches the server's files of the store for texts, as they are on its disk. The audit log may name erased conversations. The
 * write-ahead log is not searched: the server recycles it by itself.
 */
export async function searchServerFiles(db: PostgresDatabase, texts: readonly string[]): Promise<FileSearch> {
  await db.command("CHECKPOINT").catch(() => undefined);
  const relations = await db.query(
    `WITH own AS (
       SELECT c.oid, c.reltoastrelid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname NOT LIKE 'audit%'
     )
     SELECT own.relname AS name, pg_relation_filepath(f.oid) AS path, pg_relation_size(f.oid)::bigint AS bytes
     FROM own JOIN pg_class f ON f.oid = own.oid OR f.oid = own.reltoastrelid
     WHERE f.relkind IN ('r', 'i', 't') AND pg_relation_filepath(f.oid) IS NOT NULL`,
    [db.schema],
  );
  const found = new Set<string>();
  const overlap = Math.max(...texts.map((text) => Buffer.byteLength(text)), 1);
  try {
    for (const { name, path, bytes } of relations)
      for (let at = 0; at < (bytes as number); at += READ_BYTES) {
        const segment = Math.floor(at / SEGMENT_BYTES);
        const [row] = await db.query(
          `SELECT coalesce(bool_or(position(n.text IN f.bytes) > 0), false) AS found
           FROM (SELECT pg_read_binary_file($1, $2, $3, true) AS bytes) AS f, unnest($4::bytea[]) AS n (text)`,
          [
            segment === 0 ? (path as string) : `${path}.${segment}`,
            at % SEGMENT_BYTES,
            READ_BYTES + overlap,
            texts.map((text) => Buffer.from(text)),
          ],
        );
        if (row?.found === true) found.add(name as string);
      }
  } catch (error) {
    return { found: [...found], unread: (error as Error).message };
  }
  return { found: [...found] };
}
