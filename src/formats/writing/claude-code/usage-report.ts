import type { UsageBody } from "../../../index.ts";
import { objectOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";

/** The provider's report of what a message used; of nothing, where it is not known. */
export function usageReport(body: Pick<UsageBody, "usage" | "meta"> | undefined): JsonObject {
  const { usage = {}, meta } = body ?? {};
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const hour = usage.cacheWriteHourTokens;
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...(hour !== undefined && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - hour),
        ephemeral_1h_input_tokens: hour,
      },
    }),
    service_tier: "standard",
    ...objectOf(meta?.["claude-code"]),
  };
}
