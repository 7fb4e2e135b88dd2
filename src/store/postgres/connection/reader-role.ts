import { LonghaulError } from "../../../model/errors.ts";
import { READER_CONDITIONS, SHARED_TABLES } from "../schema/reader-policies.ts";
import type { PostgresDatabase, Transaction } from "./postgres-database.ts";

/** The role under which restricted reads run. It is not the owner of the tables, so that their policies bind it. */
export const READER_ROLE = "longhaul_reader";

const LOCK_CLASS = 0x4c4b;
const SEPARATOR = "\u001f";

/** The value of the setting that the policies read; no name contains a separator or is empty. */
export function buildReaderSetting(owners: readonly string[]): string {
  return ["", ...owners.filter((owner) => owner !== "" && !owner.includes(SEPARATOR))].join(SEPARATOR);
}

/** The statements with which a restricted transaction begins; all of it ends with the transaction. */
export function buildReaderStart(owners: readonly string[]): string {
  const setting = buildReaderSetting(owners).replaceAll("'", "''").replaceAll("\0", "");
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL ROLE ${READER_ROLE}; SELECT set_config('longhaul.reader', '${setting}', true)`;
}

/**
 * Creates the role and its rights where they are missing. Throws STORE_IO with the statements for an administrator
 * if the store's user may not.
 */
export async function ensureReaderRole(db: PostgresDatabase): Promise<void> {
  const tables = [...Object.keys(READER_CONDITIONS), ...SHARED_TABLES].map(
    (table) => `"${db.schema}".${table}`,
  );
  const [known] = await db.query(
    `SELECT pg_has_role(current_user, r.oid, 'MEMBER') AS member, (
       SELECT bool_and(has_table_privilege(r.oid, t, 'SELECT')) FROM unnest($2::text[]) AS n (t)
     ) AS granted FROM pg_roles r WHERE r.rolname = $1`,
    [READER_ROLE, tables],
  );
  if (known?.member === true && known.granted === true) return;
  try {
    await db.transact(async (transaction) => {
      await transaction.query("SELECT pg_advisory_xact_lock($1, 0)", [LOCK_CLASS]);
      if (known?.member !== true) await createRole(transaction);
      await transaction.execute(`GRANT USAGE ON SCHEMA "${db.schema}" TO ${READER_ROLE}`);
      await transaction.execute(`GRANT SELECT ON ${tables.join(", ")} TO ${READER_ROLE}`);
    });
  } catch (cause) {
    const statements = [`CREATE ROLE ${READER_ROLE} NOLOGIN`, `GRANT ${READER_ROLE} TO CURRENT_USER`];
    throw new LonghaulError(
      "STORE_IO",
      `${db.where} cannot restrict readers: its user may not create the role ${READER_ROLE}. Let an administrator run: ${statements.join("; ").replace("CURRENT_USER", "the user of this URL")}.`,
      { cause, details: { store: db.where, role: READER_ROLE } },
    );
  }
}

async function createRole(transaction: Transaction): Promise<void> {
  const [found] = await transaction.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [READER_ROLE]);
  if (!found) await transaction.execute(`CREATE ROLE ${READER_ROLE} NOLOGIN`);
  await transaction.execute(`GRANT ${READER_ROLE} TO CURRENT_USER`);
}
