import { toEntry } from "../log/entry-body.ts";
import type { Entry, OverlayBody, SessionId, UsageBody } from "../model/entry.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { isRefusedSummary, isSummaryUsage } from "../window/usage/usage-meta.ts";
import type { Amount } from "./plan/trigger.ts";

/** An attempt to summarize, as recorded in the log. */
interface LoggedAttempt {
  /** Seq of the entry that records it. */
  readonly seq: number;
  readonly freed: Amount;
}

/** Maximum number of entries searched, and of overlay and usage entries read among them. */
const MAX_ENTRIES = 5_000;
const MAX_TRACES = 500;
const NOTHING: Amount = { tokens: 0, messages: 0 };
/** The effect of a summary that was never applied is unknown, and may have been large. */
const UNKNOWN: Amount = { tokens: Number.POSITIVE_INFINITY, messages: Number.POSITIVE_INFINITY };

/**
 * Finds the latest attempt to summarize a session: the overlay of its summary, or only the usage of its models if the
 * summary was rejected. Reading it from the log makes it known to every process that opens the session.
 */
export async function findLastAttempt(
  entries: EntryStore,
  session: SessionId,
): Promise<LoggedAttempt | undefined> {
  const { seq: head } = await entries.head(session);
  const found = await entries.read(session, {
    from: Math.max(1, head - MAX_ENTRIES),
    to: head,
    limit: MAX_TRACES,
    order: "descending",
    kinds: ["overlay", "usage"],
  });
  let used: LoggedAttempt | undefined;
  for (const stored of found) {
    const entry = toEntry(session, stored);
    if (isSummary(entry)) {
      const { tokensBefore = 0, tokensAfter = 0, summary, seq } = entry;
      const freed = { tokens: tokensBefore - tokensAfter, messages: summary?.left.entries ?? 0 };
      return { seq: Math.max(seq, used?.seq ?? 0), freed };
    }
    // Older versions wrote usage after the overlay of the same summary.
    const report = entry as Entry<UsageBody>;
    if (isRefusedSummary(report)) return used ?? { seq: entry.seq, freed: NOTHING };
    if (isSummaryUsage(report)) used ??= { seq: entry.seq, freed: UNKNOWN };
    else if (used) return used;
  }
  return used;
}

function isSummary(entry: Entry): entry is Entry<OverlayBody> {
  return entry.kind === "overlay" && entry.summary !== undefined;
}
