/**
 * Functions that make a reservation and its settlement one statement each: they lock the counts of the budgets in one
 * order.
 */
export const BUDGET_FUNCTIONS = `
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
  INSERT INTO @budget_uses (budget, start, spent, reserved)
    SELECT n.id, n.start, 0, 0 FROM unnest(ids, starts) AS n (id, start) JOIN @budgets b ON b.id = n.id
    ORDER BY n.id ON CONFLICT DO NOTHING;
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
  UPDATE @budget_uses u SET spent = u.spent + s.amount, reserved = greatest(0, u.reserved - s.amount)
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

CREATE OR REPLACE FUNCTION @settle_budgets(old_id text, ids text[], amounts double precision[]) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM 1 FROM @budget_uses u JOIN @budget_reservations r ON u.budget = r.budget AND u.start = r.start
    WHERE r.id = old_id ORDER BY u.budget FOR UPDATE OF u;
  WITH released AS (
    DELETE FROM @budget_reservations r WHERE r.id = old_id RETURNING r.budget, r.start, r.amount, r.has_lapsed
  )
  UPDATE @budget_uses u SET
    spent = u.spent - CASE WHEN d.has_lapsed THEN d.amount ELSE 0 END
      + coalesce((SELECT n.amount FROM unnest(ids, amounts) AS n (id, amount) WHERE n.id = u.budget), 0),
    reserved = greatest(0, u.reserved - CASE WHEN d.has_lapsed THEN 0 ELSE d.amount END)
    FROM released d WHERE u.budget = d.budget AND u.start = d.start;
END $$;
`;
