/**
 * Sessions, entries, drafts and blobs. Entries are keyed by session number and seq packed into one integer (see
 * key.ts), so that an append touches one b-tree and no index; only entries with blobs write blob references.
 */
const LOG_MIGRATION = `
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT UNIQUE,
  parent INTEGER REFERENCES sessions (number),
  relation TEXT,
  created_at INTEGER NOT NULL,
  title TEXT,
  meta TEXT,
  line_seq INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_deleted ON sessions (number) WHERE id IS NULL;

CREATE TABLE entries (
  key INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  payload BLOB NOT NULL
) STRICT;

CREATE TABLE drafts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (number),
  owner TEXT NOT NULL,
  at INTEGER NOT NULL,
  payload BLOB NOT NULL
) STRICT;
CREATE INDEX drafts_by_session ON drafts (session);

CREATE TABLE blobs (
  digest BLOB PRIMARY KEY,
  size_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_refs (
  owner INTEGER NOT NULL,
  digest BLOB NOT NULL REFERENCES blobs (digest),
  PRIMARY KEY (owner, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_by_digest ON blob_refs (digest);

CREATE TABLE blob_holds (
  token TEXT PRIMARY KEY,
  digest BLOB NOT NULL REFERENCES blobs (digest),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_holds_by_digest ON blob_holds (digest);
`;

/**
 * Sources of imported entries. An intake is one foreign source that feeds one session; every imported record has a row,
 * so that it is imported once. `stamp` counts changes and reveals concurrent importers.
 */
const INTAKES_MIGRATION = `
CREATE TABLE intakes (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (number),
  stamp INTEGER NOT NULL DEFAULT 0,
  checkpoint TEXT,
  progress TEXT
) STRICT;
CREATE INDEX intakes_by_session ON intakes (session);

CREATE TABLE intake_records (
  intake INTEGER NOT NULL,
  record TEXT NOT NULL,
  seq INTEGER NOT NULL,
  version TEXT,
  PRIMARY KEY (intake, record)
) STRICT, WITHOUT ROWID;
`;

/** Partial index of overlays (kind 6) and pins (kind 8), which are few; appends of other kinds pay nothing for it. */
const MARKS_MIGRATION = `
CREATE INDEX entries_marks ON entries (kind, key) WHERE kind = 6 OR kind = 8;
`;

/** Exclusive claims with an expiry. */
const LEASES_MIGRATION = `
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * States of tasks. Plans and outcomes are in the tasks' entries; a row locates those and decides who may write. The
 * partial indexes contain only tasks with open work.
 */
const TASKS_MIGRATION = `
CREATE TABLE tasks (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  parent TEXT,
  parent_session TEXT,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  mode TEXT NOT NULL,
  owner TEXT,
  epoch INTEGER NOT NULL,
  can_resume INTEGER NOT NULL,
  resumes INTEGER NOT NULL,
  wish TEXT,
  wish_reason TEXT,
  notice TEXT,
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  deadline_at INTEGER,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL DEFAULT 0,
  notice_seq INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tasks_by_session ON tasks (session);
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_open ON tasks (owner, number) WHERE notice IS NOT 'done';
CREATE INDEX tasks_wished ON tasks (owner) WHERE wish IS NOT NULL;
`;

/** Changes no table; keeps versions that do not know payload checksums from opening the store. */
const CHECKSUMS_MIGRATION = "SELECT 'payloads have checksums'";

/** The queue in which a task waits for a worker, and the person on whose behalf it runs. */
const TASK_QUEUES_MIGRATION = `
ALTER TABLE tasks ADD COLUMN queue TEXT;
ALTER TABLE tasks ADD COLUMN person TEXT;
`;

/**
 * People, tokens, budgets and the audit log. `budget_uses` holds the count of a period and the sum of its reservations,
 * so that one row decides about a request; a reservation that lapsed has left that sum. Triggers keep the audit log.
 */
export const TEAM_MIGRATION = `
CREATE TABLE people (
  name TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  models TEXT,
  upstreams TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE person_tokens (
  digest TEXT PRIMARY KEY,
  person TEXT NOT NULL REFERENCES people (name) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX person_tokens_by_person ON person_tokens (person);
CREATE TABLE budgets (
  id TEXT PRIMARY KEY,
  person TEXT,
  project TEXT,
  model TEXT,
  unit TEXT NOT NULL,
  amount REAL NOT NULL,
  period TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE budget_uses (
  budget TEXT NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  spent REAL NOT NULL,
  reserved REAL NOT NULL,
  PRIMARY KEY (budget, start)
) STRICT, WITHOUT ROWID;
CREATE TABLE budget_reservations (
  id TEXT NOT NULL,
  budget TEXT NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  amount REAL NOT NULL,
  owner TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  has_lapsed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (id, budget)
) STRICT, WITHOUT ROWID;
CREATE INDEX budget_reservations_by_time ON budget_reservations (expires_at);
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  act TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT NOT NULL,
  previous TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
`;

/**
 * The reserved amount is the sum of the open reservations, and no longer a second count that can drift from them. Counts
 * that no request can have are set right: a negative limit of a client could once make them.
 */
const OPEN_RESERVATIONS_MIGRATION = `
ALTER TABLE budget_uses DROP COLUMN reserved;
UPDATE budget_uses SET spent = 0 WHERE NOT (spent BETWEEN 0 AND 1e15);
DELETE FROM budget_reservations WHERE NOT (amount BETWEEN 0 AND 1e15);
CREATE INDEX budget_reservations_by_budget ON budget_reservations (budget, start) WHERE has_lapsed = 0;
`;

/** "INSERT OR REPLACE" fires no trigger for the row that it removes, so an entry that exists refuses the insert itself. */
const AUDIT_INSERTS_MIGRATION = `
CREATE TRIGGER audit_added BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
`;

/** Changes no table; keeps versions that know only whole lines from opening the store. */
const LINE_CHANGES_MIGRATION = "SELECT 'lines may be stored as changes'";

/** Keys by which entries are found across sessions; sessions of earlier versions get theirs from the gateway. */
export const PLACES_MIGRATION = `
CREATE TABLE places (
  key BLOB NOT NULL,
  entry INTEGER NOT NULL,
  PRIMARY KEY (key, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX places_by_entry ON places (entry);
`;

/** Facts of the store about itself: items that loops left out, digests of erased words, erasures under way. */
export const LEDGER_MIGRATION = `
CREATE TABLE ledger (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
`;

/** Ends that a person's own tokens cannot pass, sign-ins that their provider may end, and people who must not sign in. */
export const SIGN_IN_MIGRATION = `
ALTER TABLE person_tokens ADD COLUMN limit_at INTEGER;
ALTER TABLE person_tokens ADD COLUMN subject TEXT;
ALTER TABLE person_tokens ADD COLUMN provider_session TEXT;
ALTER TABLE people ADD COLUMN blocked_at INTEGER;
`;

/** All migrations in order; migration n upgrades a database from user_version n-1 to n. Never edited once released. */
export const MIGRATIONS: readonly string[] = [
  LOG_MIGRATION,
  INTAKES_MIGRATION,
  MARKS_MIGRATION,
  LEASES_MIGRATION,
  TASKS_MIGRATION,
  CHECKSUMS_MIGRATION,
  TASK_QUEUES_MIGRATION,
  TEAM_MIGRATION,
  OPEN_RESERVATIONS_MIGRATION,
  AUDIT_INSERTS_MIGRATION,
  LINE_CHANGES_MIGRATION,
  PLACES_MIGRATION,
  LEDGER_MIGRATION,
  SIGN_IN_MIGRATION,
];
