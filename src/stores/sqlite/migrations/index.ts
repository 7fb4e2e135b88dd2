import { LOG_MIGRATION as log } from "./001-log.ts";
import { INTAKES_MIGRATION as intakes } from "./002-intakes.ts";
import { MARKS_MIGRATION as marks } from "./003-marks.ts";
import { LEASES_MIGRATION as leases } from "./004-leases.ts";
import { TASKS_MIGRATION as tasks } from "./005-tasks.ts";
import { CHECKSUMS_MIGRATION as checksums } from "./006-checksums.ts";
import { TASK_QUEUES_MIGRATION as taskQueues } from "./007-task-queues.ts";
import { TEAM_MIGRATION as team } from "./008-team.ts";
import { OPEN_RESERVATIONS_MIGRATION as openReservations } from "./009-open-reservations.ts";
import { AUDIT_INSERTS_MIGRATION as auditInserts } from "./010-audit-inserts.ts";
import { LINE_CHANGES_MIGRATION as lineChanges } from "./011-line-changes.ts";
import { PLACES_MIGRATION as places } from "./012-places.ts";

/** All migrations in order; migration n upgrades a database from user_version n-1 to n. Never edited once released. */
export const MIGRATIONS: readonly string[] = [
  ...[log, intakes, marks, leases, tasks],
  ...[checksums, taskQueues, team, openReservations, auditInserts],
  ...[lineChanges, places],
];
