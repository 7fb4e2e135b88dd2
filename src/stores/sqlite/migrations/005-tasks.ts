/**
 * States of tasks. Plans and outcomes are in the tasks' entries; a row locates those and decides who may write. The
 * partial indexes contain only tasks with open work.
 */
export const TASKS_MIGRATION = `
CREATE TABLE tasks (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  parent TEXT,
  parent_session TEXT,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  mode TEXT NOT NULL,
  owner TEXT,
  epoch INTEGER NOT NULL,
  can_resume INTEGER NOT NULL,
  resumes INTEGER NOT NULL,
  wish TEXT,
  wish_reason TEXT,
  notice TEXT,
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  deadline_at INTEGER,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL DEFAULT 0,
  notice_seq INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tasks_by_session ON tasks (session);
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_open ON tasks (owner, number) WHERE notice IS NOT 'done';
CREATE INDEX tasks_wished ON tasks (owner) WHERE wish IS NOT NULL;
`;
