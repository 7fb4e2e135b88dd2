import type { Usage } from "../../../index.ts";
import { dropUndefined, toObject } from "../../../wire/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { sumTokens } from "../pi-usage-decode.ts";

/** Builds usage in pi's format; `rest` holds further imported fields. Unknown values are zero. */
export function encodePiUsage(usage: Usage = {}, rest?: JsonObject): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, cost = 0 } = usage;
  const shares = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...toObject(rest?.cost) };
  return {
    input: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    ...dropUndefined({ cacheWrite1h: usage.cacheWriteHourTokens, reasoning: usage.reasoningTokens }),
    totalTokens: sumTokens(usage),
    ...rest,
    cost: { ...shares, total: cost },
  };
}
