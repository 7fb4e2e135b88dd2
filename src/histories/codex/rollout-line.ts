import type { Json, MessageInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { RecordBody, RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** One line of a rollout, normalized across versions of Codex. */
export interface RolloutLine extends LineRecord {
  /** Id of the line's record. */
  readonly id: string;
  readonly type: string;
  readonly payload: JsonObject;
  readonly at?: number;
  /** Position in the thread, if the line has one. */
  readonly ordinal?: number;
  /** Metadata outside the payload. */
  readonly metadata?: JsonObject;
}

/** Types of lines with a payload. */
export const LINE_TYPES: readonly string[] = [
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
  "inter_agent_communication",
  "inter_agent_communication_metadata",
  "security_risk_score",
  "token_usage_record",
  "retained_context",
  "realtime_item",
];

/** Normalizes a record; old versions wrote bare items after a first line that described the session. */
export function toRolloutLine(lineRecord: LineRecord): RolloutLine {
  const { record } = lineRecord;
  const type = toText(record.type);
  const base = {
    ...lineRecord,
    id: `L${lineRecord.line}`,
    ...dropUndefined({ at: toTime(record.timestamp) }),
  };
  const payload = toObject(record.payload);
  if (payload && type !== undefined) {
    const [ordinal, metadata] = [toNumber(record.ordinal), toObject(record.metadata)];
    return { ...base, type, payload, ...dropUndefined({ ordinal, metadata }) };
  }
  if (type !== undefined) return { ...base, type: "response_item", payload: record };
  return { ...base, type: isOldHeader(record) ? "session_meta" : "", payload: record };
}

/** True for the first line of an old version's rollout. */
export function isOldHeader(record: JsonObject): boolean {
  return (
    record.type === undefined &&
    toText(record.id) !== undefined &&
    toTime(record.timestamp) !== undefined &&
    (Object.hasOwn(record, "instructions") || Object.hasOwn(record, "git"))
  );
}

/** Builds a record of a line. */
export function buildRolloutRecord({ id, at }: RolloutLine, body: RecordBody, suffix = ""): RecordItem {
  return { type: "record", id: id + suffix, ...dropUndefined({ at }), body };
}

/** Builds a raw record of the line, or of some of its payload. */
export function buildRawRolloutRecord(line: RolloutLine, payload?: JsonObject, suffix = ""): RecordItem {
  const hasPayload = line.payload !== line.record;
  const value = !payload ? line.record : hasPayload ? { ...line.record, payload } : payload;
  return buildRolloutRecord(line, { kind: "raw", value: value as Json }, suffix);
}

export function buildRolloutMessage(line: RolloutLine, message: MessageInput, suffix = ""): RecordItem {
  return buildRolloutRecord(line, { kind: "message", message }, suffix);
}

/**
 * Adds metadata from outside the payload to the message. The ordinal is kept only if it differs from the line number.
 */
export function addLineMetadata(
  message: MessageInput,
  { line, ordinal, metadata }: RolloutLine,
): MessageInput {
  const position = ordinal === line - 1 ? undefined : ordinal;
  const beside = dropUndefined({ ordinal: position, harness: metadata as Json | undefined });
  if (Object.keys(beside).length === 0) return message;
  const own = toObject(message.meta?.codex) as { readonly [key: string]: Json } | undefined;
  return { ...message, meta: { ...message.meta, codex: { ...own, ...beside } } };
}
