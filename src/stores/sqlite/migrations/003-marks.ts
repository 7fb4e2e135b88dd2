/** Partial index of overlays (kind 6) and pins (kind 8), which are few; appends of other kinds pay nothing for it. */
export const MARKS_MIGRATION = `
CREATE INDEX entries_marks ON entries (kind, key) WHERE kind = 6 OR kind = 8;
`;
