/** "INSERT OR REPLACE" fires no trigger for the row that it removes, so an entry that exists refuses the insert itself. */
export const AUDIT_INSERTS_MIGRATION = `
CREATE TRIGGER audit_added BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
`;
