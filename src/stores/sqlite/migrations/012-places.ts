/** Keys by which entries are found across sessions; sessions of earlier versions get theirs from the gateway. */
export const PLACES_MIGRATION = `
CREATE TABLE places (
  key BLOB NOT NULL,
  entry INTEGER NOT NULL,
  PRIMARY KEY (key, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX places_by_entry ON places (entry);
`;
