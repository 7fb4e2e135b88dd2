import type { AuditEntry } from "../model/audit.ts";
import { computeAuditDigest } from "../store/audit-store.ts";

/** Checks that each entry follows the one before; returns the first problem. `last` is the entry before the first. */
export function findAuditProblem(
  entries: readonly AuditEntry[],
  last?: Pick<AuditEntry, "seq" | "digest">,
): string | undefined {
  let previous = last;
  for (const entry of entries) {
    const seq = (previous?.seq ?? 0) + 1;
    if (entry.seq !== seq) return `entry ${seq} is missing`;
    if (entry.previous !== (previous?.digest ?? "")) return `entry ${seq} does not follow the one before`;
    if (entry.digest !== computeAuditDigest(entry)) return `entry ${seq} was changed`;
    previous = entry;
  }
  return undefined;
}
