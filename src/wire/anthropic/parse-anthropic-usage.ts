import type { Usage } from "../../model/usage.ts";
import { toObject } from "../fields.ts";
import { sumKnownCounts, toCount, toUsage } from "../usage/usage-counts.ts";

/** Parses the usage of Anthropic's Messages API; undefined if it contains no count. */
export function parseAnthropicUsage(value: unknown): Usage | undefined {
  const report = toObject(value) ?? {};
  const written = toObject(report.cache_creation);
  const brief = toCount(written?.ephemeral_5m_input_tokens);
  const hour = toCount(written?.ephemeral_1h_input_tokens);
  return toUsage({
    inputTokens: toCount(report.input_tokens),
    outputTokens: toCount(report.output_tokens),
    cacheReadTokens: toCount(report.cache_read_input_tokens),
    cacheWriteTokens: toCount(report.cache_creation_input_tokens) ?? sumKnownCounts(brief, hour),
    cacheWriteHourTokens: hour === 0 ? undefined : hour,
    reasoningTokens: toCount(toObject(report.output_tokens_details)?.thinking_tokens),
  });
}
