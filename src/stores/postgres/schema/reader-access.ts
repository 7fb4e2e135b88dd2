import { isLonghaulError, LonghaulError } from "../../../model/errors.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import { READER_CONDITIONS, SHARED_TABLES } from "./reader-policies.ts";

/** The role under which restricted reads run. It is not the owner of the tables, so that their policies bind it. */
const READER_ROLE = "longhaul_reader";
const LOCK_CLASS = 0x4c4b;
const SEPARATOR = "\u001f";

/** Restricts reads to the sessions of some owners, by policies of the server. */
export class ReaderAccess {
  readonly #db: PostgresDatabase;
  #preparing: Promise<void> | undefined;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  /** The database as these owners may read it. Throws STORE_IO if the store's user may not change to the role. */
  async open(owners: readonly string[]): Promise<PostgresDatabase> {
    this.#preparing ??= ensureRole(this.#db).catch((error) => {
      this.#preparing = undefined;
      throw error;
    });
    await this.#preparing;
    return this.#db.restrict(buildStart(owners));
  }

  /** The same; undefined if the role cannot be had. */
  async tryOpen(owners: readonly string[]): Promise<PostgresDatabase | undefined> {
    try {
      return await this.open(owners);
    } catch (error) {
      if (isLonghaulError(error, "STORE_IO") && error.details.role !== undefined) return undefined;
      throw error;
    }
  }
}

/** The statements with which a restricted transaction begins; all of it ends with the transaction. */
function buildStart(owners: readonly string[]): string {
  const named = owners.filter((owner) => owner !== "" && !owner.includes(SEPARATOR) && !owner.includes("\0"));
  const setting = ["", ...named].join(SEPARATOR).replaceAll("'", "''");
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL ROLE ${READER_ROLE}; SELECT set_config('longhaul.reader', '${setting}', true)`;
}

/** Creates the role and its rights where they are missing. */
async function ensureRole(db: PostgresDatabase): Promise<void> {
  const tables = [...Object.keys(READER_CONDITIONS), ...SHARED_TABLES].map(
    (table) => `"${db.schema}".${table}`,
  );
  const [known] = await db.query(
    `SELECT pg_has_role(current_user, r.oid, 'MEMBER') AS member, has_schema_privilege(r.oid, $3, 'USAGE') AND (
       SELECT bool_and(has_table_privilege(r.oid, t, 'SELECT')) FROM unnest($2::text[]) AS n (t)
     ) AS granted FROM pg_roles r WHERE r.rolname = $1`,
    [READER_ROLE, tables, db.schema],
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
    if (!isLonghaulError(cause, "STORE_READ_ONLY")) throw cause;
    throw new LonghaulError(
      "STORE_IO",
      `${db.where} cannot restrict readers: its user may not create the role ${READER_ROLE}. Let an administrator run: CREATE ROLE ${READER_ROLE} NOLOGIN; GRANT ${READER_ROLE} TO the user of this URL.`,
      { cause, details: { store: db.where, role: READER_ROLE } },
    );
  }
}

async function createRole(transaction: Transaction): Promise<void> {
  const [found] = await transaction.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [READER_ROLE]);
  if (!found) await transaction.execute(`CREATE ROLE ${READER_ROLE} NOLOGIN`);
  await transaction.execute(`GRANT ${READER_ROLE} TO CURRENT_USER`);
}
