import type { AuditAct, AuditEntry } from "../../model/audit.ts";
import { computeDigest } from "../../model/base/digest.ts";

/** The log of administrative acts. Entries are never changed or removed. */
export interface AuditStore {
  append(act: AuditAct): Promise<AuditEntry>;
  /** Entries after a seq, oldest first. */
  list(query: { readonly after: number; readonly limit: number }): Promise<readonly AuditEntry[]>;
  /** The last entry as it is noted apart from the log, so that a log whose end was cut off is noticed. */
  head?(): Promise<AuditHead | undefined>;
}

/** Identifies the last entry of the log. */
export type AuditHead = Pick<AuditEntry, "seq" | "digest">;

/** The name of the lease that notes the last entry. */
export const AUDIT_HEAD = "head of the audit log";

/** The head as the owner of its lease. */
export function formatAuditHead({ seq, digest }: AuditHead): string {
  return `${seq} ${digest}`;
}

export function parseAuditHead(owner: unknown): AuditHead | undefined {
  const [, seq, digest] = /^(\d+) ([0-9a-f]+)$/.exec(String(owner)) ?? [];
  return seq === undefined || digest === undefined ? undefined : { seq: Number(seq), digest };
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
