/**
 * Sessions, entries, drafts and blobs. Entries are keyed by session number and seq packed into one integer (see
 * key.ts), so that an append touches one b-tree and no index; only entries with blobs write blob references.
 */
export const LOG_MIGRATION = `
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT UNIQUE,
  parent INTEGER REFERENCES sessions (number),
  relation TEXT,
  created_at INTEGER NOT NULL,
  title TEXT,
  meta TEXT,
  line_seq INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_deleted ON sessions (number) WHERE id IS NULL;

CREATE TABLE entries (
  key INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  payload BLOB NOT NULL
) STRICT;

CREATE TABLE drafts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (number),
  owner TEXT NOT NULL,
  at INTEGER NOT NULL,
  payload BLOB NOT NULL
) STRICT;
CREATE INDEX drafts_by_session ON drafts (session);

CREATE TABLE blobs (
  digest BLOB PRIMARY KEY,
  size_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_refs (
  owner INTEGER NOT NULL,
  digest BLOB NOT NULL REFERENCES blobs (digest),
  PRIMARY KEY (owner, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_by_digest ON blob_refs (digest);

CREATE TABLE blob_holds (
  token TEXT PRIMARY KEY,
  digest BLOB NOT NULL REFERENCES blobs (digest),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_holds_by_digest ON blob_holds (digest);
`;
