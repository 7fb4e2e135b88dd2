import type { ModelFacts, Prices } from "./model-data.ts";

/** The facts of a model whose provider reports no cache: every prompt token costs as much as an input token. */
export function dropCachePrices(facts: ModelFacts): ModelFacts {
  const { longPrompt } = facts;
  const plain = { ...facts, prices: dropFrom(facts.prices) };
  return longPrompt
    ? { ...plain, longPrompt: { ...longPrompt, prices: dropFrom(longPrompt.prices) } }
    : plain;
}

function dropFrom(prices: Prices): Prices {
  const { input } = prices;
  return { ...prices, cacheRead: input, cacheWrite: input, cacheWriteHour: input };
}
