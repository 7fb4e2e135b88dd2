/**
 * The index, in the form that the embedded store has, so that the same ranker reads the same numbers. One row holds its
 * state and is locked by whoever adds or forgets: chunks are numbered without gaps, in the order of their commits.
 */
export const MEMORY_TABLES = `
CREATE TABLE @index_state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  stamp bigint NOT NULL DEFAULT 0,
  last_chunk bigint NOT NULL DEFAULT 0,
  last_term bigint NOT NULL DEFAULT 0,
  last_source bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO @index_state DEFAULT VALUES;

CREATE TABLE @sources (
  number bigint PRIMARY KEY,
  kind smallint NOT NULL,
  name text COLLATE "C" NOT NULL,
  version text NOT NULL,
  cursor bigint NOT NULL,
  root text,
  size_bytes bigint,
  modified_ms double precision,
  definitions text,
  turns integer NOT NULL DEFAULT 0,
  chunks integer NOT NULL DEFAULT 0,
  terms bigint NOT NULL DEFAULT 0,
  UNIQUE (kind, name)
) WITH (fillfactor = 70);
CREATE TABLE @speakers (
  source bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (source, name)
);

CREATE TABLE @chunks (
  number bigint PRIMARY KEY,
  source bigint NOT NULL,
  turn integer NOT NULL,
  seq integer NOT NULL,
  part integer NOT NULL,
  start integer NOT NULL,
  stop integer NOT NULL,
  at bigint NOT NULL,
  author smallint NOT NULL,
  speaker text,
  traits integer NOT NULL,
  turn_length integer NOT NULL,
  body bytea NOT NULL
);
CREATE INDEX chunks_by_turn ON @chunks (source, turn);
CREATE INDEX chunks_by_time ON @chunks (at);
CREATE INDEX standing_chunks ON @chunks (number) WHERE author = 1 AND traits & 384 <> 0;

CREATE TABLE @terms (
  number bigint PRIMARY KEY,
  term text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE @segments (
  number integer PRIMARY KEY,
  sources bytea NOT NULL
);
CREATE TABLE @postings (
  segment integer NOT NULL,
  term bigint NOT NULL,
  chunks bytea NOT NULL,
  PRIMARY KEY (term, segment)
);

CREATE TABLE @embedders (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  dimensions integer NOT NULL
);
CREATE TABLE @loose_vectors (
  embedder integer NOT NULL,
  chunk bigint NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (embedder, chunk)
);
CREATE TABLE @vectors (
  embedder integer NOT NULL,
  segment integer NOT NULL,
  vectors bytea NOT NULL,
  PRIMARY KEY (embedder, segment)
);
ALTER TABLE @vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;
CREATE TABLE @embeddings (
  embedder integer NOT NULL,
  hash bytea NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (embedder, hash)
);
CREATE TABLE @erasures (
  session text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  PRIMARY KEY (session, seq)
);
`;
