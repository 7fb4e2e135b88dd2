import type { Usage } from "../../../src/index.ts";

/** Tokens of a prompt, wherever they were read from; 0 where a report has none. */
export function promptTokensOf({
  inputTokens = 0,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}
