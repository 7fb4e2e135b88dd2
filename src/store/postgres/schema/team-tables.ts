/**
 * People, tokens, budgets and the audit log, with the meanings that they have in the embedded store. The functions make
 * a reservation and its settlement one statement each: they lock the counts of the budgets in one order.
 */
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

CREATE FUNCTION @reserve_budgets(
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
  INSERT INTO @budget_uses (budget, start, spent, reserved)
    SELECT n.id, n.start, 0, 0 FROM unnest(ids, starts) AS n (id, start) JOIN @budgets b ON b.id = n.id
    ORDER BY n.id ON CONFLICT DO NOTHING;
  PERFORM 1 FROM @budget_uses u JOIN unnest(ids, starts) AS n (id, start) ON u.budget = n.id AND u.start = n.start
    ORDER BY u.budget FOR UPDATE OF u;
  WITH lapsed AS (
    UPDATE @budget_reservations r SET has_lapsed = true
    WHERE r.expires_at < now_ms AND NOT r.has_lapsed AND r.budget = ANY (ids)
    RETURNING r.budget, r.start, r.amount
  ), sums AS (
    SELECT l.budget, l.start, sum(l.amount) AS amount FROM lapsed l GROUP BY l.budget, l.start
  )
  UPDATE @budget_uses u SET reserved = greatest(0, u.reserved - s.amount)
    FROM sums s WHERE u.budget = s.budget AND u.start = s.start;
  DELETE FROM @budget_reservations r WHERE r.expires_at < lapsed_before AND r.has_lapsed;
  DELETE FROM @budget_uses u USING unnest(ids, kept_from) AS n (id, kept_from)
    WHERE u.budget = n.id AND u.start < n.kept_from;
  -- An attempt whose answer was lost is not repeated.
  IF NOT EXISTS (SELECT 1 FROM @budget_reservations r WHERE r.id = new_id) THEN
    SELECT coalesce(array_agg(u.budget), '{}') INTO refused
      FROM @budget_uses u JOIN unnest(ids, starts, limits) AS n (id, start, most) ON u.budget = n.id AND u.start = n.start
      WHERE u.spent + u.reserved >= n.most;
    IF cardinality(refused) = 0 THEN
      UPDATE @budget_uses u SET reserved = u.reserved + n.amount
        FROM unnest(ids, starts, amounts) AS n (id, start, amount) WHERE u.budget = n.id AND u.start = n.start;
      INSERT INTO @budget_reservations (id, budget, start, amount, owner, expires_at)
        SELECT new_id, u.budget, u.start, n.amount, new_owner, new_expires_at
        FROM unnest(ids, starts, amounts) AS n (id, start, amount)
        JOIN @budget_uses u ON u.budget = n.id AND u.start = n.start;
    END IF;
  END IF;
  RETURN QUERY SELECT u.budget, u.start, u.spent, u.reserved, u.budget = ANY (refused)
    FROM unnest(ids, starts) WITH ORDINALITY AS n (id, start, place)
    JOIN @budget_uses u ON u.budget = n.id AND u.start = n.start ORDER BY n.place;
END $$;

CREATE FUNCTION @settle_budgets(old_id text, ids text[], amounts double precision[]) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM 1 FROM @budget_uses u JOIN @budget_reservations r ON u.budget = r.budget AND u.start = r.start
    WHERE r.id = old_id ORDER BY u.budget FOR UPDATE OF u;
  WITH released AS (
    DELETE FROM @budget_reservations r WHERE r.id = old_id RETURNING r.budget, r.start, r.amount, r.has_lapsed
  )
  UPDATE @budget_uses u SET
    spent = u.spent + coalesce((SELECT n.amount FROM unnest(ids, amounts) AS n (id, amount) WHERE n.id = u.budget), 0),
    reserved = greatest(0, u.reserved - CASE WHEN d.has_lapsed THEN 0 ELSE d.amount END)
    FROM released d WHERE u.budget = d.budget AND u.start = d.start;
END $$;
`;
