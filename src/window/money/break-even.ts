import type { CachePrices } from "../policy.ts";

/** Anthropic's prices: a cache read costs 0.1 of an input token, a cache write 1.25. */
export const DEFAULT_CACHE_PRICES: CachePrices = { read: 0.1, write: 1.25 };

/** An edit to a window whose beginning is in the provider's cache. */
interface EditSizes {
  readonly removedTokens: number;
  /** Tokens after the edit, which have to be written to the cache again. */
  readonly survivingTokens: number;
  readonly prices: CachePrices;
}

/**
 * Number of further calls after which an edit has paid for itself: each call saves reading the removed tokens, and the
 * tokens after the edit are written once more. 0 or less if the first call already pays; Infinity if the edit never
 * pays.
 */
export function computeBreakEvenCalls({ removedTokens, survivingTokens, prices }: EditSizes): number {
  const savedByCall = removedTokens * prices.read;
  const writtenAnew = survivingTokens * Math.max(0, prices.write - prices.read);
  if (savedByCall > 0) return writtenAnew / savedByCall - 1;
  return writtenAnew > 0 || removedTokens <= 0 ? Number.POSITIVE_INFINITY : 0;
}

/** Expected number of remaining calls: as many as so far, because nothing else is known about the end of a session. */
export function estimateRemainingCalls(callsSoFar: number): number {
  return callsSoFar;
}
