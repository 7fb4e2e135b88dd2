import type { ThinkingRule } from "./thinking-rule.ts";

/** US dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Price of a cache write that is kept for an hour. */
  readonly cacheWriteHour: number;
}

/** Limits and prices of a model, used to plan windows and compute costs. */
export interface ModelFacts {
  /** Tokens of prompt and output together. */
  readonly window: number;
  readonly maxOutput: number;
  readonly prices: Prices;
  /** Prices of the whole request when its prompt is longer than `above` tokens. */
  readonly longPrompt?: { readonly above: number; readonly prices: Prices };
  /** Set if prices are a guess: good enough to compare plans, not to report spending. */
  readonly arePricesAssumed?: true;
  /** Set if the window is a guess. */
  readonly isWindowAssumed?: true;
  /** Shortest time for which the provider keeps a cached prefix; five minutes if absent. */
  readonly cacheMs?: number;
  /** The provider's demand on reasoning that is sent back; undefined if the model is unknown. */
  readonly thinking?: ThinkingRule;
}
