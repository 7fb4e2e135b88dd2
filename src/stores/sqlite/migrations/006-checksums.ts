/** Changes no table; keeps versions that do not know payload checksums from opening the store. */
export const CHECKSUMS_MIGRATION = "SELECT 'payloads have checksums'";
