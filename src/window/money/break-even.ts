import type { CachePrices } from "../policy.ts";

/** Anthropic's prices: a cache read costs 0.1 of an input token, a cache write 1.25. */
export const DEFAULT_CACHE_PRICES: CachePrices = { read: 0.1, write: 1.25 };

/**
 * Expected cost, in input tokens, of fetching content again after a rebuild by the default policy. Measured in replays:
 * about the same in windows of 64,000 to 200,000 tokens.
 */
export const REBUILD_REFETCH_COST = 9_600;

/**
 * Share of the thinking that an edit makes the model forget and that it has to write again. Nobody publishes the figure:
 * a quarter is assumed, because most thoughts of earlier steps have already led to the call or the answer behind them.
 */
export const RETHINK_SHARE = 0.25;

/** An edit to a window whose beginning is in the provider's cache. */
interface EditSizes {
  readonly removedTokens: number;
  /** Tokens after the edit, which have to be written to the cache again. */
  readonly survivingTokens: number;
  readonly prices: CachePrices;
  /** Expected cost of fetching removed content again, in input tokens; default 0. */
  readonly refetchCost?: number;
}

/**
 * Number of further calls after which an edit has paid for itself: each call saves reading the removed tokens; the
 * tokens after the edit are written once more, and some removed content is fetched again. 0 or less if the first call
 * already pays; Infinity if the edit never pays.
 */
export function computeBreakEvenCalls({
  removedTokens,
  survivingTokens,
  prices,
  refetchCost = 0,
}: EditSizes): number {
  const savedByCall = removedTokens * prices.read;
  const cost = survivingTokens * Math.max(0, prices.write - prices.read) + refetchCost;
  if (savedByCall > 0) return cost / savedByCall - 1;
  return cost > 0 || removedTokens <= 0 ? Number.POSITIVE_INFINITY : 0;
}

/** Expected number of remaining calls: as many as so far, because nothing else is known about the end of a session. */
export function estimateRemainingCalls(callsSoFar: number): number {
  return callsSoFar;
}
