/**
 * Chunks with a decision (bit 18 of their traits) by time. Sessions are indexed again one by one, since no session has
 * this version; until then, recall finds their old chunks.
 */
export const DECISIONS_MIGRATION = `
CREATE INDEX decision_chunks ON chunks (at, number) WHERE traits & 262144 <> 0;
UPDATE sources SET version = '' WHERE kind = 1;
`;
