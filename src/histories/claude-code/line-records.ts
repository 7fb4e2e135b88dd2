import type { Json, MessageInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toTime } from "../../wire/fields.ts";
import type { RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { OWN_FIELD, parseOwnFields, restoreOwnMessage } from "./own-fields.ts";

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
export function getKnownFields(record: JsonObject): ReadonlySet<string> {
  return record.isSidechain === true ? SIDECHAIN_FIELDS : LINE_FIELDS;
}

/** Builds a message record from a line; fields that our own writer stored on the line are restored into the message. */
export function buildMessageRecord(
  record: JsonObject,
  id: string,
  { fields, ...message }: MessageInput & { readonly fields: Fields },
): BareRecord {
  const own = parseOwnFields(record[OWN_FIELD]);
  const whole = Object.keys(fields).length > 0 ? { ...message, meta: { [FORMAT]: fields } } : message;
  const at = toTime(record.timestamp);
  return dropUndefined({
    id,
    at,
    body: { kind: "message", message: own ? restoreOwnMessage(whole, own) : whole },
  });
}

export function buildRawRecord(id: string, at: number | undefined, value: Json): BareRecord {
  return dropUndefined({ id, at, body: { kind: "raw", value } });
}
