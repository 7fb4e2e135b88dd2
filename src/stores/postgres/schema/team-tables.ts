/** People, tokens, budgets and the audit log, with the meanings that they have in the embedded store. */
export const TEAM_TABLES = `
CREATE TABLE @people (
  name text COLLATE "C" PRIMARY KEY,
  role text NOT NULL,
  created_at bigint NOT NULL,
  models text,
  upstreams text
);
CREATE TABLE @person_tokens (
  digest text COLLATE "C" PRIMARY KEY,
  person text COLLATE "C" NOT NULL REFERENCES @people (name) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint
);
CREATE INDEX person_tokens_by_person ON @person_tokens (person);
CREATE TABLE @budgets (
  id text COLLATE "C" PRIMARY KEY,
  person text COLLATE "C",
  project text,
  model text,
  unit text NOT NULL,
  amount double precision NOT NULL,
  period text NOT NULL
);
CREATE TABLE @budget_uses (
  budget text COLLATE "C" NOT NULL REFERENCES @budgets (id) ON DELETE CASCADE,
  start bigint NOT NULL,
  spent double precision NOT NULL,
  reserved double precision NOT NULL,
  PRIMARY KEY (budget, start)
) WITH (fillfactor = 50);
CREATE TABLE @budget_reservations (
  id text COLLATE "C" NOT NULL,
  budget text COLLATE "C" NOT NULL REFERENCES @budgets (id) ON DELETE CASCADE,
  start bigint NOT NULL,
  amount double precision NOT NULL,
  owner text NOT NULL,
  expires_at bigint NOT NULL,
  has_lapsed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (id, budget)
) WITH (fillfactor = 50);
CREATE INDEX budget_reservations_by_time ON @budget_reservations (expires_at);

CREATE TABLE @audit (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  act text NOT NULL,
  target text NOT NULL,
  details text NOT NULL,
  previous text NOT NULL,
  digest text NOT NULL
);
CREATE FUNCTION @keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON @audit EXECUTE FUNCTION @keep_audit();
`;
