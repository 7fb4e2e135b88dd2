import type { ModelFacts, Prices } from "./model-data.ts";

/** Assumptions for an unknown model: a small window, a short output, and a cache that saves nothing. */
export const ASSUMED_FACTS: ModelFacts = {
  window: 128_000,
  maxOutput: 8_000,
  prices: buildFlatPrices(3, 15),
  arePricesAssumed: true,
  isWindowAssumed: true,
};

/** Prices with a cache that saves nothing. */
export function buildFlatPrices(input: number, output: number): Prices {
  return { input, output, cacheRead: input, cacheWrite: input, cacheWriteHour: input };
}
