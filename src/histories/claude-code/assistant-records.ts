import type { Json, PartInput, Usage } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/decode-anthropic.ts";
import type { Extras } from "../../wire/block-content.ts";
import { toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { isEmpty } from "../content/non-empty-fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { RecordBody } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { getMessageId, getRecordId } from "./claude-code-lines.ts";
import { type BareRecord, buildMessageRecord, type Fields, FORMAT, getKnownFields } from "./line-records.ts";
import type { RepeatedFields } from "./repeated-fields.ts";

/** Message fields that are decoded; other fields go into `meta`. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(["id", "type", "role", "model", "content", "usage"]);

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

/** Returns the record id of a message; `piece` numbers the pieces of a message that arrived in several. */
export function buildGroupId(line: LineRecord, piece: number): string {
  const id = getMessageId(line.record);
  if (id === undefined) return getRecordId(line);
  return piece === 1 ? `msg:${id}` : `msg:${id}:${piece}`;
}

/** Builds the records of one assistant message from its lines: the message, then its usage. */
export function buildAssistantRecords(
  id: string,
  lines: readonly LineRecord[],
  facts: RepeatedFields,
  branch: Json | undefined,
): readonly BareRecord[] {
  const [first, last] = [lines[0], lines.at(-1)] as [LineRecord, LineRecord];
  const { parts, extras, counts } = mergeContent(lines);
  const usage = decodeClaudeCodeUsage(last.record);
  const fields = {
    ...collectLineFields(lines, facts),
    ...dropUndefined({
      id: getMessageId(first.record),
      parentUuid: branch,
      message: collectMessageFields(lines),
      requestId: usage ? undefined : toText(last.record.requestId),
      extras,
    }),
    ...collectLineFacts(lines, counts),
  };
  const model = toText(toObject(last.record.message)?.model);
  const message = buildMessageRecord(first.record, id, {
    role: "assistant",
    parts,
    fields,
    ...dropUndefined({ model }),
  });
  // A message that grows during the import gets a new version.
  const version = String(lines.length);
  const at = dropUndefined({ at: toTime(first.record.timestamp) });
  return [{ ...message, version }, ...(usage ? [{ id: `${id}:usage`, version, ...at, body: usage }] : [])];
}

function mergeContent(lines: readonly LineRecord[]) {
  const parts: PartInput[] = [];
  const extras: [string, Extras[string]][] = [];
  const counts: number[] = [];
  for (const { record } of lines) {
    const content = decodeAnthropicBlocks(toObject(record.message)?.content, FORMAT);
    for (const [index, extra] of Object.entries(content.extras ?? {}))
      extras.push([String(parts.length + Number(index)), extra as Extras[string]]);
    for (const one of content.parts) parts.push(one);
    counts.push(content.parts.length);
  }
  return { parts, counts, extras: extras.length > 0 ? Object.fromEntries(extras) : undefined };
}

/** Collects line ids, delays relative to the first line, and block counts if a line does not have exactly one block. */
function collectLineFacts(lines: readonly LineRecord[], counts: readonly number[]): Fields {
  const uuids = lines.flatMap(({ record }) => toText(record.uuid) ?? []);
  const times = lines.map(({ record }) => toTime(record.timestamp) ?? Number.NaN);
  const delays = times.map((time) => time - (times[0] as number));
  return dropUndefined({
    uuids: uuids.length === lines.length ? uuids : undefined,
    delays: delays.every(Number.isFinite) && delays.some((delay) => delay !== 0) ? delays : undefined,
    blocks: counts.some((count) => count !== 1) ? counts : undefined,
  });
}

/** Collects undecoded message fields; the last line with a field wins. */
function collectMessageFields(lines: readonly LineRecord[]): Fields | undefined {
  const rest: [string, Json][] = [];
  for (const { record } of lines) {
    const message = toObject(record.message) ?? {};
    for (const field of Object.keys(message)) {
      const value = message[field] as Json | undefined;
      if (value !== null && value !== undefined && !MESSAGE_FIELDS.has(field)) rest.push([field, value]);
    }
  }
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

function collectLineFields(lines: readonly LineRecord[], facts: RepeatedFields): Fields | undefined {
  const rest: [string, Json][] = [];
  for (const { record } of lines) {
    const fields = facts.getDifferingFields(record, getKnownFields(record));
    if (fields) for (const one of Object.entries(fields)) rest.push(one);
  }
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

/** Reads the usage of a model call; undefined for messages that no model wrote. */
function decodeClaudeCodeUsage(record: JsonObject): (RecordBody & { kind: "usage" }) | undefined {
  const message = toObject(record.message);
  const report = toObject(message?.usage);
  const usage = report && toUsage(report);
  // Messages that no model wrote also have a usage object, with zeros.
  if (!usage || Object.values(usage).every((count) => count === 0)) return undefined;
  const rest = Object.entries(report).filter(
    ([field, value]) => !USAGE_FIELDS.has(field) && !isDefault(field, value),
  );
  return dropUndefined({
    kind: "usage",
    usage,
    model: typeof message?.model === "string" ? message.model : undefined,
    request: typeof record.requestId === "string" ? record.requestId : undefined,
    meta: rest.length > 0 ? { [FORMAT]: Object.fromEntries(rest) as { [field: string]: Json } } : undefined,
  });
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
