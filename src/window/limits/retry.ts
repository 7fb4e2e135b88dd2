import type { Overflow } from "./overflow.ts";

/** Requests that are sent again after an overflow. */
export const mostTries = 3;

/** Share of what is known to be too much that the next try may take. */
export const forcedShare = 0.75;

/** What an overflow was met with. */
export interface OverflowedTry {
  /** Requests already sent again for this call. */
  readonly tries: number;
  /** Own count of the input that overflowed. */
  readonly lastTokens: number;
  readonly overflow: Overflow;
  /** Window of the model as far as it was known before, in tokens. */
  readonly limit?: number;
  /** What no edit can remove: system prompt, tools, pins, the last exchange. */
  readonly floorTokens?: number;
}

/** Send again with a window of at most so many tokens, or tell the user why not. */
export type NextTry =
  | { readonly type: "retry"; readonly budgetTokens: number }
  | { readonly type: "give-up"; readonly reason: "tries-used" | "floor"; readonly message: string };

/** Decides what follows an overflow. Each budget is smaller than what was sent before. */
export function nextTry(last: OverflowedTry): NextTry {
  const { tries, lastTokens, overflow, floorTokens = 0 } = last;
  if (tries >= mostTries) {
    const message = `The window still overflowed after ${tries} shorter requests, the last of ${lastTokens} tokens: ${overflow.message}`;
    return { type: "give-up", reason: "tries-used", message };
  }
  const budgetTokens = Math.floor(forcedShare * Math.min(lastTokens, fittingTokens(last)));
  if (budgetTokens < Math.max(floorTokens, 1)) {
    const message = `The window would have to shrink to ${budgetTokens} tokens, but ${floorTokens} cannot be removed: ${overflow.message}`;
    return { type: "give-up", reason: "floor", message };
  }
  return { type: "retry", budgetTokens };
}

/** What fits beside the output, in own tokens: where the own count was too low, so is what it calls fitting. */
function fittingTokens({ lastTokens, overflow, limit }: OverflowedTry): number {
  const { outputTokens = 0, requestedTokens } = overflow;
  const limitTokens = Math.min(limit ?? Infinity, overflow.limitTokens ?? Infinity);
  const roomTokens = Math.max(0, limitTokens - outputTokens);
  const countedTokens = requestedTokens === undefined ? 0 : requestedTokens - outputTokens;
  const undercount = countedTokens > lastTokens ? lastTokens / countedTokens : 1;
  return roomTokens * undercount;
}
