/**
 * The reserved amount is the sum of the open reservations, and no longer a second count that can drift from them. Counts
 * that no request can have are set right: a negative limit of a client could once make them. PostgreSQL counts NaN as
 * greater than every number, so the upper bound refuses it.
 */
export const OPEN_RESERVATIONS = `
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
