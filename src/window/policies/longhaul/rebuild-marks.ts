import type { Budget, CachePrices } from "../../policy.ts";

/** Between rebuilds the window may always grow by this times the root below, however expensive reads are. */
const MIN_STRETCH = 2;
/** Growth beyond the cheapest point: each rebuild also forgets, which no price reflects. */
const PATIENCE = 1.355;
const MIN_CALL_TOKENS = 200;

/**
 * The size that a rebuild goes down to: a share of the room after system prompt and tools, but never above a target.
 */
export function computeLowMark(budget: Budget, share: number, target: number): number {
  const { system, tokens } = budget;
  return Math.min(system + (tokens - system) * share, Math.max(target, system));
}

/**
 * The size from which a rebuild pays while the cache is hot: letting the window grow by x costs reads of x/2 a call,
 * rebuilding L tokens every x/g calls (g tokens a call) costs writes of L·g/x; their sum is least at √(2·L·g·(w−r)/r).
 */
export function computeHighMark(low: number, callTokens: number, prices: CachePrices): number {
  return low + computeStretch(prices) * Math.sqrt(low * Math.max(MIN_CALL_TOKENS, callTokens));
}

function computeStretch({ read, write }: CachePrices): number {
  if (read <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(MIN_STRETCH, PATIENCE * Math.sqrt((2 * (write - read)) / read) || 0);
}
