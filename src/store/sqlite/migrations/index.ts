import { sql as log } from "./001-log.ts";
import { sql as intakes } from "./002-intakes.ts";

/** All migrations in order; number n brings a database from user_version n-1 to n. Never edited once released. */
export const MIGRATIONS: readonly string[] = [log, intakes];
