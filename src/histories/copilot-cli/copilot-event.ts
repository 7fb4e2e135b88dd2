import type { Json } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toObject, toText, toTime } from "../../wire/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { RecordBody, RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

export interface CopilotEvent extends LineRecord {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly at?: number;
  /** The sub-agent that emitted the event. */
  readonly child?: string;
}

/** Normalizes the event of a line. */
export function toCopilotEvent(lineRecord: LineRecord): CopilotEvent {
  const { record, line } = lineRecord;
  const data = toObject(record.data) ?? {};
  const child = toText(record.agentId) ?? toText(data.parentToolCallId);
  return {
    ...lineRecord,
    id: toText(record.id) ?? `L${line}`,
    type: toText(record.type) ?? "",
    data,
    ...dropUndefined({ at: toTime(record.timestamp), child }),
  };
}

/** True for an object that can begin an event stream. */
export function isCopilotEvent(record: JsonObject): boolean {
  const type = toText(record.type) ?? "";
  return /^[a-z_]+\.[a-z_.]+$/.test(type) && toObject(record.data) !== undefined && "parentId" in record;
}

/** Builds a record of an event. */
export function buildEventRecord({ id, at, child }: CopilotEvent, body: RecordBody, suffix = ""): RecordItem {
  return { type: "record", id: id + suffix, ...dropUndefined({ at, child }), body };
}

/** Builds a raw record of the event, or of some of its data. */
export function buildRawEventRecord(
  event: CopilotEvent,
  data?: { readonly [field: string]: Json },
  suffix = "",
): RecordItem {
  const value = data ? { type: event.type, data } : event.record;
  return buildEventRecord(event, { kind: "raw", value: value as Json }, suffix);
}
