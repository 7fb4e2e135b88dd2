import type { Json } from "../../index.ts";
import { definedFields, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { RecordBody, RecordItem } from "../item.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
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
export function eventOf(lineRecord: LineRecord): CopilotEvent {
  const { record, line } = lineRecord;
  const data = objectOf(record.data) ?? {};
  const child = textOf(record.agentId) ?? textOf(data.parentToolCallId);
  return {
    ...lineRecord,
    id: textOf(record.id) ?? `L${line}`,
    type: textOf(record.type) ?? "",
    data,
    ...definedFields({ at: timeOf(record.timestamp), child }),
  };
}

/** True for an object that can begin an event stream. */
export function isEvent(record: JsonObject): boolean {
  const type = textOf(record.type) ?? "";
  return /^[a-z_]+\.[a-z_.]+$/.test(type) && objectOf(record.data) !== undefined && "parentId" in record;
}

/** Builds a record of an event. */
export function recordOf({ id, at, child }: CopilotEvent, body: RecordBody, suffix = ""): RecordItem {
  return { type: "record", id: id + suffix, ...definedFields({ at, child }), body };
}

/** Builds a raw record of the event, or of some of its data. */
export function rawOf(
  event: CopilotEvent,
  data?: { readonly [field: string]: Json },
  suffix = "",
): RecordItem {
  const value = data ? { type: event.type, data } : event.record;
  return recordOf(event, { kind: "raw", value: value as Json }, suffix);
}
