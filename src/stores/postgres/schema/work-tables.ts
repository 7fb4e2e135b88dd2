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
