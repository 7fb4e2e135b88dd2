/**
 * Tokens and money of model calls, as a provider or a tool reported them. The four token counts never overlap: input is
 * what was neither read from nor written to a cache. Reasoning is part of output.
 */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that was written for an hour. */
  readonly cacheWriteHourTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars. */
  readonly cost?: number;
}
