/**
 * Finds the few entries that say how the window differs from the log (overlays, kind 6) and what is pinned in it (kind 8)
 * without a walk through all the others, whose appends pay nothing for it.
 */
export const sql = `
CREATE INDEX entries_marks ON entries (kind, key) WHERE kind = 6 OR kind = 8;
`;
