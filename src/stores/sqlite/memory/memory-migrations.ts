/**
 * The index. Chunks hold the location and the ordered terms of their text; postings are built from them one segment at
 * a time and keyed by segment first, so that building them writes one contiguous range of the file. Vectors are stored
 * singly until their segment is complete, then packed.
 */
const MEMORY_MIGRATION = `
CREATE TABLE sources (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  cursor INTEGER NOT NULL,
  root TEXT,
  size_bytes INTEGER,
  modified_ms REAL,
  definitions TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  terms INTEGER NOT NULL DEFAULT 0,
  UNIQUE (kind, name)
) STRICT;

CREATE TABLE speakers (
  source INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  source INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  part INTEGER NOT NULL,
  start INTEGER NOT NULL,
  stop INTEGER NOT NULL,
  at INTEGER NOT NULL,
  author INTEGER NOT NULL,
  speaker TEXT,
  traits INTEGER NOT NULL,
  turn_length INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX chunks_by_turn ON chunks (source, turn);

CREATE TABLE terms (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  term TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE segments (
  number INTEGER PRIMARY KEY,
  sources BLOB NOT NULL
) STRICT;

CREATE TABLE postings (
  segment INTEGER NOT NULL,
  term INTEGER NOT NULL,
  chunks BLOB NOT NULL,
  PRIMARY KEY (segment, term)
) STRICT, WITHOUT ROWID;

CREATE TABLE embedders (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL
) STRICT;

CREATE TABLE loose_vectors (
  embedder INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (embedder, chunk)
) STRICT, WITHOUT ROWID;

CREATE TABLE vectors (
  embedder INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  vectors BLOB NOT NULL,
  UNIQUE (embedder, segment)
) STRICT;

CREATE TABLE embeddings (
  embedder INTEGER NOT NULL,
  hash BLOB NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (embedder, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasures (
  session TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE stamp (value INTEGER NOT NULL) STRICT;
INSERT INTO stamp VALUES (0);
`;

/**
 * Chunks of sessions are indexed again with the kind of evidence that they are. Files keep their chunks, which have
 * none; segments are sealed again from the rows, and vectors come from the cache.
 */
const EVIDENCE_MIGRATION = `
DELETE FROM chunks WHERE source IN (SELECT number FROM sources WHERE kind = 1);
DELETE FROM speakers;
DELETE FROM sources WHERE kind = 1;
DELETE FROM segments;
DELETE FROM postings;
DELETE FROM loose_vectors;
DELETE FROM vectors;
UPDATE stamp SET value = value + 1;
`;

/** Indexes for candidates that need no word of the question: standing rules and preferences of users, and times. */
const CANDIDATES_MIGRATION = `
CREATE INDEX standing_chunks ON chunks (number) WHERE author = 1 AND traits & 384 <> 0;
CREATE INDEX chunks_by_time ON chunks (at);
`;

/**
 * Chunks with a decision (bit 18 of their traits) by time. Sessions are indexed again one by one, since no session has
 * this version; until then, recall finds their old chunks.
 */
const DECISIONS_MIGRATION = `
CREATE INDEX decision_chunks ON chunks (at, number) WHERE traits & 262144 <> 0;
UPDATE sources SET version = '' WHERE kind = 1;
`;

/** All migrations of memory.db in order; migration n upgrades a database from user_version n-1 to n. */
export const MEMORY_MIGRATIONS: readonly string[] = [
  MEMORY_MIGRATION,
  EVIDENCE_MIGRATION,
  CANDIDATES_MIGRATION,
  DECISIONS_MIGRATION,
];
