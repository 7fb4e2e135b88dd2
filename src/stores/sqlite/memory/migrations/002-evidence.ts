/**
 * Chunks of sessions are indexed again with the kind of evidence that they are. Files keep their chunks, which have
 * none; segments are sealed again from the rows, and vectors come from the cache.
 */
export const EVIDENCE_MIGRATION = `
DELETE FROM chunks WHERE source IN (SELECT number FROM sources WHERE kind = 1);
DELETE FROM speakers;
DELETE FROM sources WHERE kind = 1;
DELETE FROM segments;
DELETE FROM postings;
DELETE FROM loose_vectors;
DELETE FROM vectors;
UPDATE stamp SET value = value + 1;
`;
