import type { Json, MessageInput } from "../../index.ts";
import { definedFields, numberOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { RecordBody, RecordItem } from "../item.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
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
export function rolloutLine(lineRecord: LineRecord): RolloutLine {
  const { record } = lineRecord;
  const type = textOf(record.type);
  const base = {
    ...lineRecord,
    id: `L${lineRecord.line}`,
    ...definedFields({ at: timeOf(record.timestamp) }),
  };
  const payload = objectOf(record.payload);
  if (payload && type !== undefined) {
    const [ordinal, metadata] = [numberOf(record.ordinal), objectOf(record.metadata)];
    return { ...base, type, payload, ...definedFields({ ordinal, metadata }) };
  }
  if (type !== undefined) return { ...base, type: "response_item", payload: record };
  return { ...base, type: isOldHeader(record) ? "session_meta" : "", payload: record };
}

/** True for the first line of an old version's rollout. */
export function isOldHeader(record: JsonObject): boolean {
  return (
    record.type === undefined &&
    textOf(record.id) !== undefined &&
    timeOf(record.timestamp) !== undefined &&
    (Object.hasOwn(record, "instructions") || Object.hasOwn(record, "git"))
  );
}

/** Builds a record of a line. */
export function recordOf({ id, at }: RolloutLine, body: RecordBody, suffix = ""): RecordItem {
  return { type: "record", id: id + suffix, ...definedFields({ at }), body };
}

/** Builds a raw record of the line, or of some of its payload. */
export function rawOf(line: RolloutLine, payload?: JsonObject, suffix = ""): RecordItem {
  const hasPayload = line.payload !== line.record;
  const value = !payload ? line.record : hasPayload ? { ...line.record, payload } : payload;
  return recordOf(line, { kind: "raw", value: value as Json }, suffix);
}

export function messageOf(line: RolloutLine, message: MessageInput, suffix = ""): RecordItem {
  return recordOf(line, { kind: "message", message }, suffix);
}

/**
 * Adds metadata from outside the payload to the message. The ordinal is kept only if it differs from the line number.
 */
export function withPlace(message: MessageInput, { line, ordinal, metadata }: RolloutLine): MessageInput {
  const position = ordinal === line - 1 ? undefined : ordinal;
  const beside = definedFields({ ordinal: position, harness: metadata as Json | undefined });
  if (Object.keys(beside).length === 0) return message;
  const own = objectOf(message.meta?.codex) as { readonly [key: string]: Json } | undefined;
  return { ...message, meta: { ...message.meta, codex: { ...own, ...beside } } };
}
