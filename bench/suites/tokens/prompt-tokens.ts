import type { Usage } from "../../../src/kernel/index.ts";

/** Tokens of a prompt, cached or not; 0 if a report has none. */
export function promptTokensOf({
  inputTokens = 0,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}
