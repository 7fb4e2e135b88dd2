/** Changes no table: programs that know no payloads with checksums must not open the store. */
export const sql = "SELECT 'payloads have checksums'";
