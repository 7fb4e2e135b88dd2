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
