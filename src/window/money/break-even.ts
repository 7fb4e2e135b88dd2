import type { CachePrices } from "../policy.ts";

/** Anthropic's: reads cost a tenth of an input token, writes a quarter more than one. */
export const DEFAULT_CACHE_PRICES: CachePrices = { read: 0.1, write: 1.25 };

/** An edit of a window whose beginning the provider has in its cache. */
export interface EditSizes {
  readonly removedTokens: number;
  /** What stays behind the edit, which has to be written to the cache anew. */
  readonly survivingTokens: number;
  readonly prices: CachePrices;
}

/**
 * After how many further calls an edit has paid for itself: what is removed is no longer read, what stays behind it is
 * written once more. 0 or less where the first call pays already; Infinity where nothing ever does.
 */
export function breakEvenCalls({ removedTokens, survivingTokens, prices }: EditSizes): number {
  const savedByCall = removedTokens * prices.read;
  const writtenAnew = survivingTokens * Math.max(0, prices.write - prices.read);
  if (savedByCall > 0) return writtenAnew / savedByCall - 1;
  return writtenAnew > 0 || removedTokens <= 0 ? Number.POSITIVE_INFINITY : 0;
}

/** How many calls are still to come: as many as there were, for nothing else is known of a session's end. */
export function expectedCalls(callsSoFar: number): number {
  return callsSoFar;
}
