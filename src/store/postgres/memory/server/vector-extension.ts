import type { Sql } from "../../connection/postgres-database.ts";

/** The extension pgvector, where a database has it. */
export interface VectorExtension {
  /** The schema of its types and operators, which need not be on the search path. */
  readonly schema: string;
  /** True if filtered searches can go on until they have enough. */
  readonly isIterative: boolean;
}

/** `halfvec` exists since 0.7, iterative scans since 0.8. */
const MIN_VERSION = 7;
const ITERATIVE_VERSION = 8;

/** Finds pgvector in the current database; undefined if it is not installed there, or too old. */
export async function findVectorExtension(sql: Sql): Promise<VectorExtension | undefined> {
  const [row] = await sql.query(
    `SELECT e.extversion::text AS version, n.nspname::text AS schema FROM pg_extension e
     JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`,
  );
  if (!row) return undefined;
  const [major = 0, minor = 0] = (row.version as string).split(".").map(Number);
  const version = major > 0 ? Number.POSITIVE_INFINITY : minor;
  if (version < MIN_VERSION) return undefined;
  return { schema: row.schema as string, isIterative: version >= ITERATIVE_VERSION };
}
