import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { isUsageCount, type Usage } from "../../../model/usage.ts";

/** The usage of a call in counts that never overlap, or undefined if nothing was reported. */
export function parseSdkUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage | undefined {
  const cacheReadTokens = toCount(inputTokens.cacheRead);
  const cacheWriteTokens = toCount(inputTokens.cacheWrite);
  const total = toCount(inputTokens.total);
  const uncached = total === undefined ? undefined : total - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0);
  const counts = {
    inputTokens: toCount(inputTokens.noCache) ?? toCount(uncached),
    outputTokens: toCount(outputTokens.total) ?? toCount(outputTokens.text),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: hourTokens(raw),
    reasoningTokens: toCount(outputTokens.reasoning),
  };
  const reported = Object.entries(counts).filter(([, count]) => count !== undefined);
  return reported.length === 0 ? undefined : Object.fromEntries(reported);
}

/** Some servers report a total smaller than the sum of its parts. */
function toCount(count: number | undefined): number | undefined {
  const whole = Math.ceil(Math.max(0, count ?? Number.NaN));
  return isUsageCount(whole) ? whole : undefined;
}

/** Only Anthropic reports how long cached tokens are kept. */
function hourTokens(raw: LanguageModelV4Usage["raw"]): number | undefined {
  const written = Object(raw?.cache_creation) as { readonly ephemeral_1h_input_tokens?: unknown };
  const count = written.ephemeral_1h_input_tokens;
  return typeof count === "number" ? toCount(count) : undefined;
}
