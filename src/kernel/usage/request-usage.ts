import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { UsageBody } from "../faces/log.ts";
import {
  addReport,
  computeSavings,
  EMPTY_LEDGER,
  type ModelFactsLookup,
  RECENT_REQUESTS,
  type Savings,
  type Totals,
} from "../faces/window.ts";
import type { Entry, Session, SessionId } from "../index.ts";

/** Usage of one request, as last reported. */
export interface RequestUsage {
  readonly session: SessionId;
  readonly at: number;
  readonly request?: string;
  readonly model?: string;
  readonly totals: Totals;
  /** Estimated savings of edits. */
  readonly savings: Savings;
}

const PAGE_ENTRIES = 500;

/**
 * Yields the requests in a session's log, oldest first, including those on abandoned lines, because they were paid for.
 * Runs in constant memory: a late report replaces an earlier one only if its request is among the latest
 * RECENT_REQUESTS.
 */
export async function* readRequestUsage(
  session: Session,
  factsOf: ModelFactsLookup,
): AsyncGenerator<RequestUsage> {
  const recent = new Map<string, RequestUsage>();
  for await (const entry of readUsageEntries(session)) {
    const key = getRequestKey(entry);
    recent.delete(key);
    recent.set(key, toRequestUsage(entry, factsOf));
    const [oldest] = recent;
    if (!oldest || recent.size <= RECENT_REQUESTS) continue;
    recent.delete(oldest[0]);
    yield oldest[1];
  }
  yield* recent.values();
}

/** The key of a report's request: a later report with the same key replaces it. */
export function getRequestKey({ id, request }: Entry<UsageBody>): string {
  return request === undefined ? id : `request ${request}`;
}

/** Reads the usage reports of a session from a seq on. */
export async function* readUsageEntries(session: Session, first = 1): AsyncGenerator<Entry<UsageBody>> {
  for (let from = first; ; ) {
    const entries = await session.read({ from, limit: PAGE_ENTRIES, kinds: ["usage"] });
    yield* entries as readonly Entry<UsageBody>[];
    const last = entries.at(-1);
    if (!last || entries.length < PAGE_ENTRIES) return;
    from = last.seq + 1;
  }
}

function toRequestUsage(entry: Entry<UsageBody>, factsOf: ModelFactsLookup): RequestUsage {
  const { session, at, request, model } = entry;
  return {
    session,
    at,
    ...dropUndefined({ request, model }),
    totals: addReport(EMPTY_LEDGER, { at, body: entry }, factsOf).session,
    savings: computeSavings(entry, factsOf),
  };
}
