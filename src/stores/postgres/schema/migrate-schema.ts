import { LonghaulError } from "../../../model/errors.ts";
import type { PostgresDatabase, Sql, Transaction } from "../connection/postgres-database.ts";
import { BUDGET_FUNCTIONS } from "./budget-functions.ts";
import { LOG_TABLES } from "./log-tables.ts";
import { MEMORY_TABLES } from "./memory-tables.ts";
import { OPEN_RESERVATIONS } from "./open-reservations.ts";
import { READER_GRANTS, READER_POLICIES } from "./reader-policies.ts";
import { SERVER_TABLES } from "./server-tables.ts";
import { TEAM_TABLES } from "./team-tables.ts";
import { WORK_TABLES } from "./work-tables.ts";

/** The queue in which a task waits for a worker, and the person on whose behalf it runs. */
const TASK_QUEUE_COLUMNS = `
ALTER TABLE @tasks ADD COLUMN queue text, ADD COLUMN person text;
CREATE INDEX tasks_running ON @tasks (queue, person) WHERE queue IS NOT NULL AND state IN ('running', 'detaching');
`;

/** States that gateways share; small, short-lived and rewritten often. */
const STATE_TABLE = `
CREATE TABLE @shared_states (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  changed_at timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX shared_states_by_change ON @shared_states (changed_at);
`;

/**
 * Blobs outside the database. `place` names the storage of a blob, an upload or a deletion; null is the database
 * itself. An object is deleted after the row: until then, a row in `blob_deletions` says so.
 */
const OBJECT_TABLES = `
ALTER TABLE @blobs ADD COLUMN place text;
ALTER TABLE @blob_uploads ADD COLUMN place text, ADD COLUMN digest bytea;
CREATE TABLE @blob_deletions (
  place text NOT NULL,
  digest bytea NOT NULL,
  PRIMARY KEY (place, digest)
);
`;

/** Keys by which entries are found across sessions; closed to readers, like every table without a policy. */
const PLACE_TABLE = `
CREATE TABLE @places (
  key bytea NOT NULL,
  session bigint NOT NULL,
  seq integer NOT NULL,
  PRIMARY KEY (key, session, seq)
);
CREATE INDEX places_by_entry ON @places (session, seq);
`;

/**
 * Chunks with a decision (bit 18 of their traits) by time. Sessions are indexed again one by one, since no session has
 * this version; until then, recall finds their old chunks.
 */
const DECISION_CHUNKS = `
CREATE INDEX decision_chunks ON @chunks (at, number) WHERE traits & 262144 <> 0;
UPDATE @sources SET version = '' WHERE kind = 1;
`;

/** All migrations in order; migration n upgrades a schema from version n-1 to n. Never edited once released. */
const SCHEMA_STEPS: readonly string[] = [
  LOG_TABLES,
  WORK_TABLES,
  MEMORY_TABLES,
  SERVER_TABLES,
  OBJECT_TABLES,
  READER_POLICIES,
  TASK_QUEUE_COLUMNS,
  TEAM_TABLES,
  STATE_TABLE,
  BUDGET_FUNCTIONS,
  READER_GRANTS,
  OPEN_RESERVATIONS,
  // Changes no table; keeps versions that know only whole lines from opening the store.
  "SELECT 'lines may be stored as changes'",
  // Words in pg_textsearch, which earlier versions kept where the extension was installed.
  "DROP TABLE IF EXISTS @ranked_words, @ranked_state",
  PLACE_TABLE,
  DECISION_CHUNKS,
];

/** First half of the advisory lock's key; the second is made of the schema's name. */
const LOCK_CLASS = 0x4c48;

/** Creates or upgrades the store's schema; of several programs that start at once, one does it and the others wait. */
export async function migrateSchema(db: PostgresDatabase): Promise<void> {
  if ((await readStoreVersion(db, db)) === SCHEMA_STEPS.length) return;
  await db.transact(async (transaction) => {
    await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, db.schema]);
    const version = await readStoreVersion(db, transaction);
    await createMarker(db, transaction, version);
    for (const step of SCHEMA_STEPS.slice(version)) await transaction.execute(step);
    await transaction.query("UPDATE @longhaul_store SET version = $1", [SCHEMA_STEPS.length]);
  });
}

/** Throws STORE_IO unless the schema exists in the version that this program reads. */
export async function requireSchema(db: PostgresDatabase): Promise<void> {
  const version = await readStoreVersion(db, db);
  if (version === SCHEMA_STEPS.length) return;
  throw new LonghaulError(
    "STORE_IO",
    version === 0
      ? `There is no store in schema ${db.schema} of ${db.where}; "longhaul import" makes one.`
      : `${db.where} has schema version ${version}; open it once for writing, which upgrades it to ${SCHEMA_STEPS.length}.`,
    { details: { store: db.where, found: version } },
  );
}

async function createMarker(db: PostgresDatabase, sql: Transaction, version: number): Promise<void> {
  if (version > 0) return;
  await sql.execute(`CREATE SCHEMA IF NOT EXISTS "${db.schema}"`);
  await sql.execute(
    "CREATE TABLE @longhaul_store (version integer NOT NULL); INSERT INTO @longhaul_store VALUES (0)",
  );
}

/** The version of the schema, 0 if it is empty or missing; throws STORE_FOREIGN or SCHEMA_TOO_NEW. */
export async function readStoreVersion(db: PostgresDatabase, sql: Sql): Promise<number> {
  const [found] = await sql.query(
    `SELECT count(*)::int AS tables, count(*) FILTER (WHERE tablename = 'longhaul_store')::int AS ours
     FROM pg_tables WHERE schemaname = $1`,
    [db.schema],
  );
  if (found?.tables === 0) return 0;
  if (found?.ours === 0) {
    throw new LonghaulError(
      "STORE_FOREIGN",
      `Schema ${db.schema} of ${db.where} holds tables of another program; name another one with ?schema=. It was left as it is.`,
      { details: { store: db.where, schema: db.schema } },
    );
  }
  const [row] = await sql.query("SELECT version FROM @longhaul_store");
  const version = Number(row?.version ?? 0);
  if (version <= SCHEMA_STEPS.length) return version;
  throw new LonghaulError(
    "SCHEMA_TOO_NEW",
    `${db.where} has schema version ${version}; this longhaul knows up to ${SCHEMA_STEPS.length}. Update longhaul to open it. It was left as it is.`,
    { details: { store: db.where, found: version, known: SCHEMA_STEPS.length } },
  );
}
