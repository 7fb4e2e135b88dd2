import { readRequestUsage } from "../../conversation/spending/request-usage.ts";
import { UsageSums } from "../../conversation/spending/usage-sums.ts";
import type { Kernel, SessionRecord } from "../../index.ts";
import { findOrigin, type SessionOrigin } from "../../model/session-origin.ts";
import type { ModelFactsLookup, Totals } from "../../window-entry.ts";

/** A session as the listing shows it. */
export interface SessionRow extends SessionOrigin {
  readonly record: SessionRecord;
  readonly entries: number;
  /** Time of the last entry, else of the creation. */
  readonly usedAt: number;
  readonly model?: string;
  readonly totals: Totals;
}

/** Reads the last model and the cost of a session. */
export async function readSessionRow(
  kernel: Kernel,
  record: SessionRecord,
  factsOf: ModelFactsLookup,
): Promise<SessionRow> {
  await using session = await kernel.session(record.id);
  const { seq, at } = await session.head();
  const { model } = await session.lastCall();
  const sums = new UsageSums();
  for await (const spent of readRequestUsage(session, factsOf)) sums.add(spent);
  return {
    record,
    ...findOrigin(record),
    entries: seq,
    usedAt: seq > 0 ? at : record.createdAt,
    ...(model !== undefined && { model }),
    totals: sums.total,
  };
}
