/** Changes no table; keeps versions that know only whole lines from opening the store. */
export const LINE_CHANGES_MIGRATION = "SELECT 'lines may be stored as changes'";
