import type { Json, Usage } from "../../index.ts";
import { dropUndefined, toNumber, toObject } from "../../wire/fields.ts";
import { isEmpty } from "../content/non-empty-fields.ts";
import type { RecordBody } from "../port/item.ts";
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
const DEFAULT_VALUES: ReadonlyMap<string, string> = new Map([
  ["service_tier", "standard"],
  ["inference_geo", "not_available"],
  ["speed", "standard"],
]);

/** Reads the usage of a model call; undefined for messages that no model wrote. */
export function decodeClaudeCodeUsage(record: JsonObject): (RecordBody & { kind: "usage" }) | undefined {
  const message = toObject(record.message);
  const report = toObject(message?.usage);
  const usage = report && toUsage(report);
  // Messages that no model wrote also have a usage object, with zeros.
  if (!usage || Object.values(usage).every((count) => count === 0)) return undefined;
  const rest = Object.entries(report).filter(
    ([field, value]) => !USAGE_FIELDS.has(field) && !isDefault(field, value),
  );
  return {
    kind: "usage",
    usage,
    ...(typeof message?.model === "string" && { model: message.model }),
    ...(typeof record.requestId === "string" && { request: record.requestId }),
    ...(rest.length > 0 && { meta: { [FORMAT]: Object.fromEntries(rest) as { [field: string]: Json } } }),
  };
}

function isDefault(field: string, value: unknown): boolean {
  if (isEmpty(value) || DEFAULT_VALUES.get(field) === value) return true;
  return (
    field === "server_tool_use" && Object.values(toObject(value) ?? { value }).every((count) => count === 0)
  );
}

/** Converts the provider's usage to ours. */
function toUsage(report: JsonObject): Usage {
  const written = toObject(report.cache_creation);
  const brief = toNumber(written?.ephemeral_5m_input_tokens);
  const hour = toNumber(written?.ephemeral_1h_input_tokens);
  const sum = brief === undefined && hour === undefined ? undefined : (brief ?? 0) + (hour ?? 0);
  return dropUndefined({
    inputTokens: toNumber(report.input_tokens),
    outputTokens: toNumber(report.output_tokens),
    cacheReadTokens: toNumber(report.cache_read_input_tokens),
    cacheWriteTokens: toNumber(report.cache_creation_input_tokens) ?? sum,
    cacheWriteHourTokens: hour,
  });
}
