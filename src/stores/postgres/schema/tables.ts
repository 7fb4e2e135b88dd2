/**
 * Sessions, entries, drafts and blobs. Entries are partitioned by session number, and numbers grow: new conversations
 * are written to the newest partition, and the indexes of old ones are never touched again. The head of each log is a
 * narrow row of its own, updated in place. A writer moves the head on from the seq it has read, and then owns the seqs
 * after it.
 */
export const LOG_TABLES = `
CREATE TABLE @sessions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" UNIQUE,
  parent bigint REFERENCES @sessions (number),
  relation text,
  created_at bigint NOT NULL,
  title text,
  meta text
);
CREATE INDEX sessions_by_parent ON @sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_deleted ON @sessions (number) WHERE id IS NULL;

CREATE TABLE @heads (
  session bigint PRIMARY KEY REFERENCES @sessions (number),
  seq integer NOT NULL DEFAULT 0,
  at bigint NOT NULL DEFAULT 0,
  line_seq integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE @entries (
  session bigint NOT NULL,
  seq integer NOT NULL,
  kind smallint NOT NULL,
  at bigint NOT NULL,
  token bigint,
  payload bytea NOT NULL,
  PRIMARY KEY (session, seq)
) PARTITION BY RANGE (session);
ALTER TABLE @entries ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE TABLE @drafts (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  session bigint NOT NULL REFERENCES @sessions (number),
  owner text NOT NULL,
  at bigint NOT NULL,
  payload bytea NOT NULL
);
CREATE INDEX drafts_by_session ON @drafts (session);

CREATE TABLE @blobs (
  digest bytea PRIMARY KEY,
  upload bigint NOT NULL UNIQUE,
  size_bytes bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE @blob_uploads (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE @blob_pieces (
  upload bigint NOT NULL,
  piece integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (upload, piece)
);
ALTER TABLE @blob_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE @entry_blobs (
  session bigint NOT NULL,
  seq integer NOT NULL,
  digest bytea NOT NULL REFERENCES @blobs (digest),
  PRIMARY KEY (session, seq, digest)
);
CREATE INDEX entry_blobs_by_digest ON @entry_blobs (digest);
CREATE TABLE @draft_blobs (
  draft bigint NOT NULL REFERENCES @drafts (number) ON DELETE CASCADE,
  digest bytea NOT NULL REFERENCES @blobs (digest),
  PRIMARY KEY (draft, digest)
);
CREATE INDEX draft_blobs_by_digest ON @draft_blobs (digest);
CREATE TABLE @blob_holds (
  token text PRIMARY KEY,
  digest bytea NOT NULL REFERENCES @blobs (digest),
  expires_at timestamptz NOT NULL
);
CREATE INDEX blob_holds_by_digest ON @blob_holds (digest);
`;

/** Foreign sources, leases and tasks, with the meanings that they have in the embedded store. */
export const WORK_TABLES = `
CREATE TABLE @intakes (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" UNIQUE,
  session bigint NOT NULL REFERENCES @sessions (number),
  stamp integer NOT NULL DEFAULT 0,
  checkpoint text,
  progress text
);
CREATE INDEX intakes_by_session ON @intakes (session);
CREATE TABLE @intake_records (
  intake bigint NOT NULL,
  record text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  version text,
  PRIMARY KEY (intake, record)
);

CREATE TABLE @leases (
  name text COLLATE "C" PRIMARY KEY,
  owner text NOT NULL,
  expires_at double precision NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE @tasks (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  session bigint NOT NULL REFERENCES @sessions (number) ON DELETE CASCADE,
  parent text,
  parent_session text,
  agent text NOT NULL,
  state text NOT NULL,
  mode text NOT NULL,
  owner text,
  epoch integer NOT NULL,
  can_resume boolean NOT NULL,
  resumes integer NOT NULL,
  wish text,
  wish_reason text,
  notice text,
  attempts integer NOT NULL,
  created_at bigint NOT NULL,
  settled_at bigint,
  deadline_at bigint,
  first_seq integer NOT NULL,
  last_seq integer NOT NULL DEFAULT 0,
  notice_seq integer NOT NULL DEFAULT 0
);
CREATE INDEX tasks_by_session ON @tasks (session);
CREATE INDEX tasks_by_parent ON @tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_open ON @tasks (owner, number) WHERE notice IS DISTINCT FROM 'done';
CREATE INDEX tasks_wished ON @tasks (owner) WHERE wish IS NOT NULL;
`;

/** People, tokens, budgets and the audit log, with the meanings that they have in the embedded store. */
export const TEAM_TABLES = `
CREATE TABLE @people (
  name text COLLATE "C" PRIMARY KEY,
  role text NOT NULL,
  created_at bigint NOT NULL,
  models text,
  upstreams text
);
CREATE TABLE @person_tokens (
  digest text COLLATE "C" PRIMARY KEY,
  person text COLLATE "C" NOT NULL REFERENCES @people (name) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint
);
CREATE INDEX person_tokens_by_person ON @person_tokens (person);
CREATE TABLE @budgets (
  id text COLLATE "C" PRIMARY KEY,
  person text COLLATE "C",
  project text,
  model text,
  unit text NOT NULL,
  amount double precision NOT NULL,
  period text NOT NULL
);
CREATE TABLE @budget_uses (
  budget text COLLATE "C" NOT NULL REFERENCES @budgets (id) ON DELETE CASCADE,
  start bigint NOT NULL,
  spent double precision NOT NULL,
  reserved double precision NOT NULL,
  PRIMARY KEY (budget, start)
) WITH (fillfactor = 50);
CREATE TABLE @budget_reservations (
  id text COLLATE "C" NOT NULL,
  budget text COLLATE "C" NOT NULL REFERENCES @budgets (id) ON DELETE CASCADE,
  start bigint NOT NULL,
  amount double precision NOT NULL,
  owner text NOT NULL,
  expires_at bigint NOT NULL,
  has_lapsed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (id, budget)
) WITH (fillfactor = 50);
CREATE INDEX budget_reservations_by_time ON @budget_reservations (expires_at);

CREATE TABLE @audit (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  act text NOT NULL,
  target text NOT NULL,
  details text NOT NULL,
  previous text NOT NULL,
  digest text NOT NULL
);
CREATE FUNCTION @keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON @audit EXECUTE FUNCTION @keep_audit();
`;

/**
 * Words for the search on the server, of an index that has grown beyond the memory of a process: the words of a chunk
 * as lexemes, with a label for their weight. Filled segment by segment; `served` counts the finished ones.
 */
export const SERVER_TABLES = `
CREATE TABLE @chunk_words (
  chunk bigint PRIMARY KEY,
  source bigint NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX chunk_words_by_source ON @chunk_words (source);
CREATE INDEX chunk_words_by_word ON @chunk_words USING gin (words) WITH (fastupdate = off);
ALTER TABLE @index_state ADD COLUMN served integer NOT NULL DEFAULT 0;
ALTER TABLE @embedders ADD COLUMN served integer NOT NULL DEFAULT 0;
`;

/**
 * The index, in the form that the embedded store has, so that the same ranker reads the same numbers. One row holds its
 * state. Every writer locks that row, so chunks are numbered without gaps, in the order of their commits.
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
