import { computeDigest } from "../base/digest.ts";
import type { AuditAct, AuditEntry } from "../model/audit.ts";

/** The log of administrative acts. Entries are never changed or removed. */
export interface AuditStore {
  append(act: AuditAct): Promise<AuditEntry>;
  /** Entries after a seq, oldest first. */
  list(query: { readonly after: number; readonly limit: number }): Promise<readonly AuditEntry[]>;
}

/** The entry of an act after the last one. */
export function chainAct(
  { at, actor, act, target, details }: AuditAct,
  last: Pick<AuditEntry, "seq" | "digest"> | undefined,
): AuditEntry {
  const entry = { seq: (last?.seq ?? 0) + 1, at, actor, act, target, details, previous: last?.digest ?? "" };
  return { ...entry, digest: computeAuditDigest(entry) };
}

/** The digest of an entry over all its other fields. */
export function computeAuditDigest(entry: Omit<AuditEntry, "digest">): string {
  const { seq, at, actor, act, target, details, previous } = entry;
  return computeDigest(JSON.stringify([seq, at, actor, act, target, details, previous]));
}
