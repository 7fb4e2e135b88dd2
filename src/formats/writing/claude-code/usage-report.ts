import type { UsageBody } from "../../../index.ts";
import { objectOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";

/** The provider's report of what a message used; of nothing, where it is not known. */
export function usageReport(body: Pick<UsageBody, "usage" | "meta"> | undefined): JsonObject {
  const { usage = {}, meta } = body ?? {};
  const { cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens: hour } = usage;
  return {
    input_tokens: usage.inputTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    ...(cacheReadTokens !== undefined && { cache_read_input_tokens: cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cache_creation_input_tokens: cacheWriteTokens }),
    ...(hour !== undefined && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, (cacheWriteTokens ?? hour) - hour),
        ephemeral_1h_input_tokens: hour,
      },
    }),
    service_tier: "standard",
    ...objectOf(meta?.["claude-code"]),
  };
}
