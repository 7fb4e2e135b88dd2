import type { Usage } from "../../index.ts";
import { definedFields, numberOf, objectOf } from "../content/fields.ts";
import type { RecordBody } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { RepeatedFields } from "./repeated-fields.ts";

/** Fields of a usage report that our own has a place for. */
export const USAGE_FIELDS: ReadonlySet<string> = new Set([
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
]);

/** Fields of a usage report that repeat. */
export const REPEATED_USAGE = ["service_tier", "inference_geo", "speed", "server_tool_use"];

/** What a model call used; undefined for messages that no model wrote. `facts` learns what repeats. */
export function usageBodyOf(
  record: JsonObject,
  facts: RepeatedFields,
): (RecordBody & { kind: "usage" }) | undefined {
  const message = objectOf(record.message);
  const report = objectOf(message?.usage);
  if (!report) return undefined;
  const usage = usageOf(report);
  // Messages that no model wrote carry a report all the same.
  if (Object.values(usage).every((count) => count === 0)) return undefined;
  facts.learn(report);
  const differing = facts.besides(report, USAGE_FIELDS);
  return {
    kind: "usage",
    usage,
    ...(typeof message?.model === "string" && { model: message.model }),
    ...(typeof record.requestId === "string" && { request: record.requestId }),
    ...(differing && { meta: { "claude-code": differing } }),
  };
}

/** Our usage of the provider's report. */
export function usageOf(report: JsonObject): Usage {
  const written = objectOf(report.cache_creation);
  const brief = numberOf(written?.ephemeral_5m_input_tokens);
  const hour = numberOf(written?.ephemeral_1h_input_tokens);
  const sum = brief === undefined && hour === undefined ? undefined : (brief ?? 0) + (hour ?? 0);
  return definedFields({
    inputTokens: numberOf(report.input_tokens),
    outputTokens: numberOf(report.output_tokens),
    cacheReadTokens: numberOf(report.cache_read_input_tokens),
    cacheWriteTokens: numberOf(report.cache_creation_input_tokens) ?? sum,
    cacheWriteHourTokens: hour,
  });
}
