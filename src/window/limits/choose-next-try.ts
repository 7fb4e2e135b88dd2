import type { Overflow } from "./overflow.ts";

/** Maximum number of retries after an overflow. */
export const MAX_TRIES = 3;

/** Share of the size known to be too large that the next try may take. */
const FORCED_SHARE = 0.75;

/** A request that overflowed. */
interface OverflowedTry {
  /** Retries already sent for this call. */
  readonly tries: number;
  /** Our own count of the input that overflowed. */
  readonly lastTokens: number;
  readonly overflow: Overflow;
  /** The model's window as known before the overflow, in tokens. */
  readonly limit?: number;
  /** Tokens that no edit can remove: system prompt, tools, pins, the last exchange. */
  readonly floorTokens?: number;
}

/** Either a retry with a window of at most `budgetTokens`, or the reason to give up. */
type NextTry =
  | { readonly type: "retry"; readonly budgetTokens: number }
  | { readonly type: "give-up"; readonly reason: "tries-used" | "floor"; readonly message: string };

/** Decides how to continue after an overflow. Each budget is smaller than the request before it. */
export function chooseNextTry(last: OverflowedTry): NextTry {
  const { tries, lastTokens, overflow, floorTokens = 0 } = last;
  if (tries >= MAX_TRIES) {
    const message = `The window still overflowed after ${tries} shorter requests, the last of ${lastTokens} tokens: ${overflow.message}`;
    return { type: "give-up", reason: "tries-used", message };
  }
  const budgetTokens = Math.floor(FORCED_SHARE * Math.min(lastTokens, fittingTokens(last)));
  if (budgetTokens < Math.max(floorTokens, 1)) {
    const message = `The window would have to shrink to ${budgetTokens} tokens, but ${floorTokens} cannot be removed: ${overflow.message}`;
    return { type: "give-up", reason: "floor", message };
  }
  return { type: "retry", budgetTokens };
}

/** Tokens that fit next to the output, by our own count; scaled down if our count was lower than the provider's. */
function fittingTokens({ lastTokens, overflow, limit }: OverflowedTry): number {
  const { outputTokens = 0, requestedTokens } = overflow;
  const limitTokens = Math.min(limit ?? Infinity, overflow.limitTokens ?? Infinity);
  const roomTokens = Math.max(0, limitTokens - outputTokens);
  const countedTokens = requestedTokens === undefined ? 0 : requestedTokens - outputTokens;
  const undercount = countedTokens > lastTokens ? lastTokens / countedTokens : 1;
  return roomTokens * undercount;
}
