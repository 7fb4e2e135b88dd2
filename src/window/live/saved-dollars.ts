import { priceTokens } from "../models/price-tokens.ts";
import type { FittedWindow } from "./fitted-window.ts";

/**
 * US dollars that edits save on one call which is `removedTokens` smaller than without them: by its receipt for an edit
 * made for this call, at the price of cached tokens for earlier edits. Negative while an edit has not paid off.
 */
export function computeSavedDollars(
  { plan, tokens, cache, facts }: Pick<FittedWindow, "plan" | "tokens" | "cache" | "facts">,
  removedTokens: number,
): number {
  const receipt = plan?.receipt;
  const byPlan = receipt ? receipt.thisCall.without - receipt.thisCall.with : 0;
  const removedBefore = removedTokens - (receipt ? receipt.tokens.without - receipt.tokens.with : 0);
  if (removedBefore <= 0) return byPlan;
  const price = (count: number) =>
    priceTokens(facts, count, ({ cacheRead, cacheWrite }) => [
      [count, cache === "cold" ? cacheWrite : cacheRead],
    ]);
  return byPlan + price(tokens + removedBefore) - price(tokens);
}
