import { sql as log } from "./001-log.ts";
import { sql as intakes } from "./002-intakes.ts";
import { sql as marks } from "./003-marks.ts";
import { sql as leases } from "./004-leases.ts";
import { sql as tasks } from "./005-tasks.ts";
import { sql as checksums } from "./006-checksums.ts";

/** All migrations in order; migration n upgrades a database from user_version n-1 to n. Never edited once released. */
export const MIGRATIONS: readonly string[] = [log, intakes, marks, leases, tasks, checksums];
