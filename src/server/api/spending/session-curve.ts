import {
  addReport,
  EMPTY_LEDGER,
  type ListedOverlay,
  type ModelFactsLookup,
  RECENT_REQUESTS,
} from "../../../kernel/faces/window.ts";
import type { Session } from "../../../kernel/index.ts";
import { getRequestKey, readUsageEntries } from "../../../kernel/usage/request-usage.ts";
import { computeCacheShare } from "./session-usage.ts";

/** One request of a curve. */
interface RequestPoint {
  readonly seq: number;
  readonly at: number;
  readonly tokens: number;
  readonly cacheShare: number | null;
  readonly cost: number | null;
}

/** Reads the requests of a session in the order of its log; a late report replaces an earlier one of its request. */
export async function readRequestPoints(
  session: Session,
  factsOf: ModelFactsLookup,
  signal: AbortSignal,
): Promise<readonly RequestPoint[]> {
  const points: RequestPoint[] = [];
  const recent = new Map<string, number>();
  for await (const entry of readUsageEntries(session)) {
    signal.throwIfAborted();
    const { session: totals } = addReport(EMPTY_LEDGER, { at: entry.at, body: entry }, factsOf);
    const key = getRequestKey(entry);
    const known = recent.get(key);
    const index = known ?? points.length;
    points[index] = {
      seq: points[index]?.seq ?? entry.seq,
      at: entry.at,
      tokens: totals.inputTokens + totals.cacheReadTokens + totals.cacheWriteTokens,
      cacheShare: computeCacheShare(totals),
      cost: totals.unpricedRequests > 0 ? null : totals.cost,
    };
    recent.delete(key);
    recent.set(key, index);
    const [oldest] = recent.keys();
    if (oldest !== undefined && recent.size > RECENT_REQUESTS) recent.delete(oldest);
  }
  return points;
}

/** Thins points to at most `max`: the largest window of each stretch stays. */
export function thinPoints(
  points: readonly RequestPoint[],
  max: number,
): { readonly points: readonly RequestPoint[]; readonly stretch: number } {
  const stretch = Math.max(1, Math.ceil(points.length / max));
  if (stretch === 1) return { points, stretch };
  const kept: RequestPoint[] = [];
  for (let from = 0; from < points.length; from += stretch)
    kept.push(
      points.slice(from, from + stretch).reduce((most, one) => (one.tokens > most.tokens ? one : most)),
    );
  return { points: kept, stretch };
}

/** Places edits on a curve; both lists are in the order of the log. */
export function placeEdits(edits: readonly ListedOverlay[], points: readonly Pick<RequestPoint, "seq">[]) {
  let point = 0;
  return edits.map(({ entry, isHolding }) => {
    while (point < points.length && (points[point] as RequestPoint).seq < entry.seq) point++;
    const { receipt, summary, tokensBefore, tokensAfter } = entry;
    const measured =
      tokensBefore !== undefined && tokensAfter !== undefined
        ? { without: tokensBefore, with: tokensAfter }
        : null;
    return {
      overlay: entry.id,
      seq: entry.seq,
      at: entry.madeAt ?? entry.at,
      point,
      type: entry.edit.type,
      author: entry.author,
      reason: entry.reason,
      isHolding,
      tokens: receipt?.tokens ?? measured,
      thisCall: receipt?.thisCall ?? null,
      nextCalls: receipt?.nextCalls ?? null,
      breakEvenCalls: receipt?.breakEvenCalls ?? null,
      leftEntries: (receipt ?? summary)?.left.entries ?? null,
    };
  });
}
