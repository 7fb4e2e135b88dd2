/**
 * Blobs outside the database. `place` names the storage of a blob, an upload or a deletion; null is the database
 * itself. An object is deleted after the row: until then, a row in `blob_deletions` says so.
 */
export const OBJECT_TABLES = `
ALTER TABLE @blobs ADD COLUMN place text;
ALTER TABLE @blob_uploads ADD COLUMN place text, ADD COLUMN digest bytea;
CREATE TABLE @blob_deletions (
  place text NOT NULL,
  digest bytea NOT NULL,
  PRIMARY KEY (place, digest)
);
`;
