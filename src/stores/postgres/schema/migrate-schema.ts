import { LonghaulError } from "../../../model/errors.ts";
import type { PostgresDatabase, Sql, Transaction } from "../connection/postgres-database.ts";
import { READER_GRANTS, READER_POLICIES } from "./reader-policies.ts";
import { LOG_TABLES, MEMORY_TABLES, SERVER_TABLES, TEAM_TABLES, WORK_TABLES } from "./tables.ts";

/**
 * Functions that make a reservation and its settlement one statement each: they lock the counts of the budgets in one
 * order. The reserved amount is the sum of the open reservations, and no second count that can drift from them. Counts
 * that no request can have are set right: a negative limit of a client could once make them. PostgreSQL counts NaN as
 * greater than every number, so the upper bound refuses it.
 */
const OPEN_RESERVATIONS = `
ALTER TABLE @budget_uses DROP COLUMN reserved;
UPDATE @budget_uses SET spent = 0 WHERE NOT (spent BETWEEN 0 AND 1e15);
DELETE FROM @budget_reservations WHERE NOT (amount BETWEEN 0 AND 1e15);
ALTER TABLE @budget_uses ADD CHECK (spent >= 0 AND spent < 'Infinity');
ALTER TABLE @budget_reservations ADD CHECK (amount >= 0 AND amount < 'Infinity');
CREATE INDEX budget_reservations_by_budget ON @budget_reservations (budget, start) WHERE NOT has_lapsed;

CREATE FUNCTION @reserved_amount(of_budget text, of_start bigint) RETURNS double precision LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(r.amount), 0) FROM @budget_reservations r
    WHERE r.budget = of_budget AND r.start = of_start AND NOT r.has_lapsed
$$;

CREATE OR REPLACE FUNCTION @reserve_budgets(
  new_id text, new_owner text, new_expires_at bigint, now_ms bigint, lapsed_before bigint,
  ids text[], starts bigint[], limits double precision[], amounts double precision[], kept_from bigint[]
) RETURNS TABLE (budget text, start bigint, spent double precision, reserved double precision, is_refused boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  refused text[] := '{}';
BEGIN
  -- A budget that was removed meanwhile limits nothing. The lock keeps the others until the end.
  PERFORM 1 FROM @budgets b WHERE b.id = ANY (ids) ORDER BY b.id FOR KEY SHARE;
  INSERT INTO @budget_uses (budget, start, spent)
    SELECT n.id, n.start, 0 FROM unnest(ids, starts) AS n (id, start) JOIN @budgets b ON b.id = n.id
    ORDER BY n.id ON CONFLICT DO NOTHING;
  -- Whoever holds these rows decides alone; the sums below are read after that.
  PERFORM 1 FROM @budget_uses u JOIN unnest(ids, starts) AS n (id, start) ON u.budget = n.id AND u.start = n.start
    ORDER BY u.budget FOR UPDATE OF u;
  -- Nobody knows whether the provider answered the request of a gateway that died: it counts with its estimate.
  WITH lapsed AS (
    UPDATE @budget_reservations r SET has_lapsed = true
    WHERE r.expires_at < now_ms AND NOT r.has_lapsed AND r.budget = ANY (ids)
    RETURNING r.budget, r.start, r.amount
  ), sums AS (
    SELECT l.budget, l.start, sum(l.amount) AS amount FROM lapsed l GROUP BY l.budget, l.start
  )
  UPDATE @budget_uses u SET spent = u.spent + s.amount
    FROM sums s WHERE u.budget = s.budget AND u.start = s.start;
  DELETE FROM @budget_reservations r WHERE r.expires_at < lapsed_before AND r.has_lapsed;
  DELETE FROM @budget_uses u USING unnest(ids, kept_from) AS n (id, kept_from)
    WHERE u.budget = n.id AND u.start < n.kept_from;
  -- An attempt whose answer was lost is not repeated.
  IF NOT EXISTS (SELECT 1 FROM @budget_reservations r WHERE r.id = new_id) THEN
    SELECT coalesce(array_agg(u.budget), '{}') INTO refused
      FROM @budget_uses u JOIN unnest(ids, starts, limits) AS n (id, start, most) ON u.budget = n.id AND u.start = n.start
      WHERE u.spent + @reserved_amount(u.budget, u.start) >= n.most;
    IF cardinality(refused) = 0 THEN
      INSERT INTO @budget_reservations (id, budget, start, amount, owner, expires_at)
        SELECT new_id, u.budget, u.start, n.amount, new_owner, new_expires_at
        FROM unnest(ids, starts, amounts) AS n (id, start, amount)
        JOIN @budget_uses u ON u.budget = n.id AND u.start = n.start;
    END IF;
  END IF;
  RETURN QUERY SELECT u.budget, u.start, u.spent, @reserved_amount(u.budget, u.start), u.budget = ANY (refused)
    FROM unnest(ids, starts) WITH ORDINALITY AS n (id, start, place)
    JOIN @budget_uses u ON u.budget = n.id AND u.start = n.start ORDER BY n.place;
END $$;

CREATE OR REPLACE FUNCTION @settle_budgets(old_id text, ids text[], amounts double precision[]) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM 1 FROM @budget_uses u JOIN @budget_reservations r ON u.budget = r.budget AND u.start = r.start
    WHERE r.id = old_id ORDER BY u.budget FOR UPDATE OF u;
  WITH released AS (
    DELETE FROM @budget_reservations r WHERE r.id = old_id RETURNING r.budget, r.start, r.amount, r.has_lapsed
  )
  -- A lapsed estimate has been counted as spent.
  UPDATE @budget_uses u SET
    spent = greatest(0, u.spent - CASE WHEN d.has_lapsed THEN d.amount ELSE 0 END)
      + coalesce((SELECT n.amount FROM unnest(ids, amounts) AS n (id, amount) WHERE n.id = u.budget), 0)
    FROM released d WHERE u.budget = d.budget AND u.start = d.start;
END $$;
`;

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

/** Earlier versions searched a large index on the server, in lexemes and in a graph of pgvector for each embedder. */
const NO_SERVER_SEARCH = `
DROP TABLE @chunk_words;
ALTER TABLE @index_state DROP COLUMN served;
ALTER TABLE @embedders DROP COLUMN served;
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT c.oid::regclass FROM pg_class c JOIN pg_class i USING (relnamespace)
    WHERE i.oid = '@index_state'::regclass AND c.relkind = 'r' AND c.relname ~ '^nearest_[0-9]+$' LOOP
    EXECUTE 'DROP TABLE ' || name;
  END LOOP;
END $$;
`;

/** Facts of the store about itself; closed to readers, like every table without a policy. */
const LEDGER_TABLE = `
CREATE TABLE @ledger (
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (kind, id)
);
`;

/** Ends that a person's own tokens cannot pass, sign-ins that their provider may end, and people who must not sign in. */
const SIGN_IN_COLUMNS = `
ALTER TABLE @person_tokens ADD COLUMN IF NOT EXISTS limit_at bigint, ADD COLUMN IF NOT EXISTS subject text, ADD COLUMN IF NOT EXISTS provider_session text;
ALTER TABLE @people ADD COLUMN IF NOT EXISTS blocked_at bigint;
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
  "SELECT 'the functions of budgets, which OPEN_RESERVATIONS defines anew'",
  READER_GRANTS,
  OPEN_RESERVATIONS,
  // Changes no table; keeps versions that know only whole lines from opening the store.
  "SELECT 'lines may be stored as changes'",
  // Words in pg_textsearch, which earlier versions kept where the extension was installed.
  "DROP TABLE IF EXISTS @ranked_words, @ranked_state",
  PLACE_TABLE,
  DECISION_CHUNKS,
  NO_SERVER_SEARCH,
  LEDGER_TABLE,
  SIGN_IN_COLUMNS,
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
