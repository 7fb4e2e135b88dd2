import type { Overflow } from "./overflow.ts";

/** Maximum number of retries after an overflow within one running turn. */
export const MAX_TRIES = 3;

/** Share of the size known to be too large that the next try may take if the provider names no limit. */
const FORCED_SHARE = 0.75;
/** Share of the room within a named limit that the next try takes; the rest keeps the next calls from cutting again. */
const NAMED_SHARE = 0.8;
/** A larger share of the named limit would leave too little room for messages, so that the usual share applies. */
const MAX_RESERVE_SHARE = 0.25;
const USUAL_RESERVE_SHARE = 1 / 8;

/** A request that overflowed. */
interface OverflowedTry {
  /** Retries already made in the running turn. */
  readonly tries: number;
  /** Our own count of the input that overflowed. */
  readonly lastTokens: number;
  readonly overflow: Overflow;
  /** Maximum tokens of a request as known before the overflow. */
  readonly limit?: number;
  /** Tokens kept free for the reply, unless the provider says how many it counts; default 0. */
  readonly reserveTokens?: number;
  /** Tokens that no edit can remove: system prompt, tools, pins, the last exchange. */
  readonly floorTokens?: number;
}

/** Either a retry with a window of `maxTokens`, or the reason to give up. */
type NextTry =
  | { readonly type: "retry"; readonly maxTokens: number }
  | { readonly type: "give-up"; readonly reason: "tries-used" | "floor"; readonly message: string };

/**
 * Decides how to continue after an overflow: with 80 % of the limit that the provider names, less the reserve for the
 * output, or else with 75 % of the request. Each window is smaller than the request before it, and no smaller than that.
 */
export function chooseNextTry(last: OverflowedTry): NextTry {
  const { tries, lastTokens, overflow, limit = Number.POSITIVE_INFINITY, floorTokens = 0 } = last;
  if (tries >= MAX_TRIES) {
    const message = `The window still overflowed after ${tries} shorter requests, the last of ${lastTokens} tokens: ${overflow.message}`;
    return { type: "give-up", reason: "tries-used", message };
  }
  const namedTokens = computeNamedRoom(last);
  // A limit that the request kept to by our own count was not the cause, or our count is too low.
  const wantedTokens = namedTokens < lastTokens ? namedTokens : FORCED_SHARE * lastTokens;
  const maxTokens = Math.floor(Math.min(wantedTokens, limit));
  if (maxTokens < Math.max(floorTokens, 1)) {
    const message = `The window would have to shrink to ${maxTokens} tokens, but ${floorTokens} cannot be removed: ${overflow.message}`;
    return { type: "give-up", reason: "floor", message };
  }
  return { type: "retry", maxTokens };
}

/**
 * Tokens that fit next to the output within the limit that the provider names, by our own count; scaled down if that was
 * lower than the provider's.
 */
function computeNamedRoom({ lastTokens, overflow, reserveTokens = 0 }: OverflowedTry): number {
  const { limitTokens, outputTokens, requestedTokens } = overflow;
  if (limitTokens === undefined) return Number.POSITIVE_INFINITY;
  const reserve = outputTokens ?? limitReserve(limitTokens, reserveTokens);
  const countedTokens = requestedTokens === undefined ? 0 : requestedTokens - (outputTokens ?? 0);
  const undercount = countedTokens > lastTokens ? lastTokens / countedTokens : 1;
  return Math.max(0, limitTokens - reserve) * undercount * NAMED_SHARE;
}

/** The tokens kept free for the reply within a limit that was named for a request with a reserve of `reserveTokens`. */
export function limitReserve(limitTokens: number, reserveTokens: number): number {
  const isTooMuch = reserveTokens > limitTokens * MAX_RESERVE_SHARE;
  return isTooMuch ? Math.ceil(limitTokens * USUAL_RESERVE_SHARE) : reserveTokens;
}
