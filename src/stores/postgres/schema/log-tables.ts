/**
 * Sessions, entries, drafts and blobs. Entries are partitioned by session number, and numbers grow: new conversations
 * are written to the newest partition, and the indexes of old ones are never touched again. The head of each log is a
 * narrow row of its own, updated in place; whoever moves it from the seq that he knows owns the seqs after it.
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
