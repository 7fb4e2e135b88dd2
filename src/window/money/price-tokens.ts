import type { ModelFacts, Prices } from "../models/model-data.ts";

/** Token counts of a prompt, each with its price in US dollars per million. */
type PricedTokens = readonly (readonly [tokens: number, price: number])[];

/** US dollars of a prompt; long prompts may have prices of their own. */
export function priceTokens(
  facts: ModelFacts,
  promptTokens: number,
  itemsAt: (prices: Prices) => PricedTokens,
): number {
  const isLong = facts.longPrompt !== undefined && promptTokens > facts.longPrompt.above;
  const prices = isLong ? facts.longPrompt.prices : facts.prices;
  const sum = itemsAt(prices).reduce((total, [tokens, price]) => total + tokens * price, 0);
  return Math.round(sum) / 1_000_000;
}
