/** Exclusive claims with an expiry. */
export const LEASES_MIGRATION = `
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
