/** Changes no table; keeps versions that do not know payload checksums from opening the store. */
export const sql = "SELECT 'payloads have checksums'";
