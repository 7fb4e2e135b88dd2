/**
 * Tokens and money of model calls as reported by a provider or tool. The four token counts never overlap: input
 * excludes tokens read from or written to a cache. Reasoning is part of output.
 */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` with a lifetime of one hour. */
  readonly cacheWriteHourTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars. */
  readonly cost?: number;
}
