/**
 * Sources of imported entries. An intake is one foreign source that feeds one session; every imported record has a row,
 * so that it is imported once. `stamp` counts changes and reveals concurrent importers.
 */
export const INTAKES_MIGRATION = `
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
