import type { UsageBody } from "../../../log-entry.ts";
import { toObject } from "../../../wire/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";

/** Builds the provider's usage object of a message; zeros if usage is unknown. */
export function encodeClaudeCodeUsage(body: Pick<UsageBody, "usage" | "meta"> | undefined): JsonObject {
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
    ...toObject(meta?.["claude-code"]),
  };
}
