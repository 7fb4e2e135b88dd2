import type { ModelFacts, Prices } from "./facts.ts";
import { knownModel } from "./known-models.ts";

/** Where facts come from: a maintained package, a provider's list, or the table that comes with us. */
export type Catalogue = (id: string) => ModelFacts | undefined;

/** Facts that the caller knows better. */
export interface FactsOverrides {
  readonly window?: number;
  readonly maxOutput?: number;
  readonly prices?: Partial<Prices>;
}

/** How facts are looked up. */
export interface ModelFactsOptions {
  readonly catalogue?: Catalogue;
  readonly overrides?: FactsOverrides;
  /** Called with a sentence for people when facts had to be assumed. */
  readonly onUnknown?: (warning: string) => void;
}

/** What is assumed of a model nobody knows: a small window, a short output, and a cache that saves nothing. */
export const ASSUMED_FACTS: ModelFacts = {
  window: 128_000,
  maxOutput: 8_000,
  prices: flatPrices(3, 15),
  arePricesAssumed: true,
};

/** The facts of a model: overrides first, then the catalogue, then cautious assumptions. */
export function modelFacts(id: string, options: ModelFactsOptions = {}): ModelFacts {
  const { catalogue = knownModel, overrides = {}, onUnknown } = options;
  const found = catalogue(id);
  if (!found && overrides.window === undefined) {
    const { window, maxOutput } = ASSUMED_FACTS;
    onUnknown?.(
      `Model "${id}" is not in the catalogue: a window of ${window} and an output of ${maxOutput} tokens are assumed. Set its window, output limit and prices to be exact.`,
    );
  }
  return overridden(found ?? ASSUMED_FACTS, overrides);
}

function overridden(facts: ModelFacts, overrides: FactsOverrides): ModelFacts {
  const { window = facts.window, maxOutput = facts.maxOutput, prices } = overrides;
  if (!prices) return { ...facts, window, maxOutput };
  // Prices that are set by hand hold for prompts of any length.
  const { longPrompt: _, arePricesAssumed, ...rest } = facts;
  const base = arePricesAssumed
    ? flatPrices(prices.input ?? facts.prices.input, prices.output ?? facts.prices.output)
    : facts.prices;
  const isStillAssumed = arePricesAssumed && (prices.input === undefined || prices.output === undefined);
  return {
    ...rest,
    window,
    maxOutput,
    prices: { ...base, ...prices },
    ...(isStillAssumed && { arePricesAssumed }),
  };
}

function flatPrices(input: number, output: number): Prices {
  return { input, output, cacheRead: input, cacheWrite: input, cacheWriteHour: input };
}
