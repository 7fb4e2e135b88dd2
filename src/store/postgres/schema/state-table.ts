/** States that gateways share; small, short-lived and rewritten often. */
export const STATE_TABLE = `
CREATE TABLE @shared_states (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  changed_at timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX shared_states_by_change ON @shared_states (changed_at);
`;
