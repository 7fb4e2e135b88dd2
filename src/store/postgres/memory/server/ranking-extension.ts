import type { Sql } from "../../connection/postgres-database.ts";

/** The extension pg_textsearch, where a database has it. */
export interface RankingExtension {
  /** The schema of its types and operators, which need not be on the search path. */
  readonly schema: string;
}

/** The first version that its authors call ready for production; tested with 1.5. */
const MIN_VERSION = 1;

/** Finds pg_textsearch in the current database; undefined if it is not installed there, or too old. */
export async function findRankingExtension(sql: Sql): Promise<RankingExtension | undefined> {
  const [row] = await sql.query(
    `SELECT e.extversion::text AS version, n.nspname::text AS schema FROM pg_extension e
     JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_textsearch'`,
  );
  if (!row || Number.parseInt(row.version as string, 10) < MIN_VERSION) return undefined;
  return { schema: row.schema as string };
}
