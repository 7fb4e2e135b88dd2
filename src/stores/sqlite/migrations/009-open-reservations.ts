/**
 * The reserved amount is the sum of the open reservations, and no longer a second count that can drift from them. Counts
 * that no request can have are set right: a negative limit of a client could once make them.
 */
export const OPEN_RESERVATIONS_MIGRATION = `
ALTER TABLE budget_uses DROP COLUMN reserved;
UPDATE budget_uses SET spent = 0 WHERE NOT (spent BETWEEN 0 AND 1e15);
DELETE FROM budget_reservations WHERE NOT (amount BETWEEN 0 AND 1e15);
CREATE INDEX budget_reservations_by_budget ON budget_reservations (budget, start) WHERE has_lapsed = 0;
`;
