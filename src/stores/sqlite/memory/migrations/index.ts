import { MEMORY_MIGRATION as memory } from "./001-memory.ts";
import { EVIDENCE_MIGRATION as evidence } from "./002-evidence.ts";
import { CANDIDATES_MIGRATION as candidates } from "./003-candidates.ts";
import { DECISIONS_MIGRATION as decisions } from "./004-decisions.ts";

/** All migrations of memory.db in order; migration n upgrades a database from user_version n-1 to n. */
export const MEMORY_MIGRATIONS: readonly string[] = [memory, evidence, candidates, decisions];
