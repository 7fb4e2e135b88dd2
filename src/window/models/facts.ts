/** US dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of what is written to be kept for an hour. */
  readonly cacheWriteHour: number;
}

/** What has to be known of a model to plan a window and to count its cost. */
export interface ModelFacts {
  /** Tokens of prompt and output together. */
  readonly window: number;
  readonly maxOutput: number;
  readonly prices: Prices;
  /** Prices of a whole request whose prompt is longer than `above` tokens. */
  readonly longPrompt?: { readonly above: number; readonly prices: Prices };
  /** Set where prices are a guess: good for comparing plans, not for telling what was spent. */
  readonly arePricesAssumed?: true;
  /** Set where the window is a guess. */
  readonly isWindowAssumed?: true;
}
