import type { Json, MessageInput } from "../../index.ts";
import { timeOf } from "../content/fields.ts";
import type { RecordItem } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { OWN_FIELD, ownFieldsOf, restoredMessage } from "./own-fields.ts";

/** Key of this format's fields in `meta`. */
export const FORMAT = "claude-code";

/** Fields of the format that our model cannot represent. */
export type Fields = { readonly [field: string]: Json };

/** A record without its parent. */
export type BareRecord = Omit<RecordItem, "type" | "child" | "parent">;

const LINE_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "uuid",
  "parentUuid",
  "timestamp",
  "isSidechain",
  "message",
  "requestId",
  "toolUseResult",
  OWN_FIELD,
]);

const SIDECHAIN_FIELDS: ReadonlySet<string> = new Set([...LINE_FIELDS, "agentId"]);

/** Returns the fields of a line that its records represent, or that only locate it. */
export function knownFieldsOf(record: JsonObject): ReadonlySet<string> {
  return record.isSidechain === true ? SIDECHAIN_FIELDS : LINE_FIELDS;
}

/** Builds a message record from a line; fields that our own writer stored on the line are restored into the message. */
export function messageRecord(
  record: JsonObject,
  id: string,
  { fields, ...message }: MessageInput & { readonly fields: Fields },
): BareRecord {
  const own = ownFieldsOf(record[OWN_FIELD]);
  const whole = Object.keys(fields).length > 0 ? { ...message, meta: { [FORMAT]: fields } } : message;
  const at = timeOf(record.timestamp);
  return {
    id,
    ...(at !== undefined && { at }),
    body: { kind: "message", message: own ? restoredMessage(whole, own) : whole },
  };
}

export function rawRecord(id: string, at: number | undefined, value: Json): BareRecord {
  return { id, ...(at !== undefined && { at }), body: { kind: "raw", value } };
}
