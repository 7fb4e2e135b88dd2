import type { Json } from "../../index.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-decode.ts";
import { omitFields, toObject, toText, toTime } from "../../wire/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import { getRecordId, getToolResults } from "./claude-code-lines.ts";
import {
  type BareRecord,
  buildMessageRecord,
  buildRawRecord,
  FORMAT,
  getKnownFields,
} from "./line-records.ts";
import type { RepeatedFields } from "./repeated-fields.ts";

/** Facts about a line that depend on other lines. */
interface UserLineFacts {
  /** Parent of the line, if it branches off. */
  readonly branch?: Json;
  /** Content of the tool result that the message does not have. */
  readonly rest?: Json;
  /** Id of the line with the call that this line answers. */
  readonly caller?: string;
}

/** Builds the records of a user line: its message, then raw records for content too large for the message's meta. */
export function buildUserRecords(
  line: LineRecord,
  facts: RepeatedFields,
  { branch, rest: left, caller }: UserLineFacts,
): readonly BareRecord[] {
  const { record } = line;
  const id = getRecordId(line);
  const message = toObject(record.message) ?? {};
  const { parts, extras } = decodeAnthropicBlocks(message.content, FORMAT);
  const { sourceToolAssistantUUID: named, ...rest } =
    facts.getDifferingFields(record, getKnownFields(record)) ?? {};
  const more = omitFields(message, ["role", "content"]);
  const uuid = toText(record.uuid);
  const { small, large } = splitLeftovers({
    ...rest,
    ...(named !== undefined && named !== caller && { sourceToolAssistantUUID: named }),
    ...(more && { message: more }),
    ...(left !== undefined && { toolUseResult: left }),
  });
  const fields = {
    ...small,
    ...(uuid !== undefined && { uuid }),
    ...(branch !== undefined && { parentUuid: branch }),
    ...(extras && { extras }),
  };
  const isTool = parts.length > 0 && getToolResults(record).length === parts.length;
  const at = toTime(record.timestamp);
  const raws = Object.entries(large ?? {}).map(([field, value]) =>
    buildRawRecord(`${id}:${field}`, at, { of: id, [field]: value }),
  );
  return [buildMessageRecord(record, id, { role: isTool ? "tool" : "user", parts, fields }), ...raws];
}
