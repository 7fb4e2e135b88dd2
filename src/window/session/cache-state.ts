import type { CacheState } from "../../model/receipt.ts";
import type { Usage } from "../../model/usage.ts";

/** The last request that was reported. */
export interface LastRequest {
  readonly at: number;
  readonly usage: Usage;
  readonly model?: string;
}

const SHORT_MS = 5 * 60_000;
const LONG_MS = 60 * 60_000;
/** No provider caches shorter prompts, so their reports say nothing about a cache. */
const MIN_CACHED_TOKENS = 4_096;

/**
 * True for the usage of a request that is long enough to be cached, from a provider that counts cached tokens and
 * counted none. A provider that does not mention a cache is not meant: local servers keep the prefix and say nothing.
 */
export function isUncached(usage: Usage): boolean {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return !isSilent(usage) && cacheReadTokens + cacheWriteTokens === 0 && inputTokens >= MIN_CACHED_TOKENS;
}

/** True if a report does not mention a cache at all. */
function isSilent({ cacheReadTokens, cacheWriteTokens }: Usage): boolean {
  return cacheReadTokens === undefined && cacheWriteTokens === undefined;
}

/**
 * The likely state of the provider's cache, based on the time of the last request, how long its prefix is cached, and
 * whether the provider reports caching at all. Models do not share a cache. A provider that never mentions a cache is
 * taken to keep the prefix for as long as its server runs, as llama.cpp, Ollama, vLLM and LM Studio do.
 */
export function estimateCacheState(
  last: LastRequest | undefined,
  now: { readonly at: number; readonly model: string; readonly lastSaidAt?: number },
): CacheState {
  if (!last) {
    const { lastSaidAt } = now;
    return lastSaidAt !== undefined && now.at - lastSaidAt > LONG_MS ? "cold" : "unknown";
  }
  if (last.model !== undefined && last.model !== now.model) return "cold";
  if (isSilent(last.usage)) return "unknown";
  const { cacheReadTokens = 0, cacheWriteTokens = 0, cacheWriteHourTokens = 0 } = last.usage;
  const heldMs = cacheWriteHourTokens > 0 ? LONG_MS : SHORT_MS;
  if (now.at - last.at > heldMs) return "cold";
  if (cacheReadTokens + cacheWriteTokens > 0) return "hot";
  return isUncached(last.usage) ? "cold" : "unknown";
}
