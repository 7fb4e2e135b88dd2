import type { Json, Usage } from "../../index.ts";
import { definedFields, numberOf, objectOf } from "../content/fields.ts";
import { isEmpty } from "../content/told-fields.ts";
import type { RecordBody } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { FORMAT } from "./line-records.ts";

/** Fields that our usage represents. */
const USAGE_FIELDS: ReadonlySet<string> = new Set([
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
]);

/** Default values of further fields; only other values are kept. */
const USUAL: ReadonlyMap<string, string> = new Map([
  ["service_tier", "standard"],
  ["inference_geo", "not_available"],
  ["speed", "standard"],
]);

/** Reads the usage of a model call; undefined for messages that no model wrote. */
export function usageBodyOf(record: JsonObject): (RecordBody & { kind: "usage" }) | undefined {
  const message = objectOf(record.message);
  const report = objectOf(message?.usage);
  const usage = report && usageOf(report);
  // Messages that no model wrote also have a usage object, with zeros.
  if (!usage || Object.values(usage).every((count) => count === 0)) return undefined;
  const rest = Object.entries(report).filter(
    ([field, value]) => !USAGE_FIELDS.has(field) && !isUsual(field, value),
  );
  return {
    kind: "usage",
    usage,
    ...(typeof message?.model === "string" && { model: message.model }),
    ...(typeof record.requestId === "string" && { request: record.requestId }),
    ...(rest.length > 0 && { meta: { [FORMAT]: Object.fromEntries(rest) as { [field: string]: Json } } }),
  };
}

function isUsual(field: string, value: unknown): boolean {
  if (isEmpty(value) || USUAL.get(field) === value) return true;
  return (
    field === "server_tool_use" && Object.values(objectOf(value) ?? { value }).every((count) => count === 0)
  );
}

/** Converts the provider's usage to ours. */
function usageOf(report: JsonObject): Usage {
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
