/** Indexes for candidates that need no word of the question: standing rules and preferences of users, and times. */
export const CANDIDATES_MIGRATION = `
CREATE INDEX standing_chunks ON chunks (number) WHERE author = 1 AND traits & 384 <> 0;
CREATE INDEX chunks_by_time ON chunks (at);
`;
