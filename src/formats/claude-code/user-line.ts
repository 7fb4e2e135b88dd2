import type { Json } from "../../index.ts";
import { contentOfBlocks } from "../content/anthropic-blocks.ts";
import { fieldsBesides, objectOf, textOf, timeOf } from "../content/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import { type BareRecord, FORMAT, knownFieldsOf, messageRecord, rawRecord } from "./line-records.ts";
import { recordIdOf, resultsOf } from "./lines.ts";
import type { RepeatedFields } from "./repeated-fields.ts";

/** Facts about a line that depend on other lines. */
export interface UserLineFindings {
  /** Parent of the line, if it branches off. */
  readonly branch?: Json;
  /** Content of the tool result that the message does not have. */
  readonly left?: Json;
  /** Id of the line with the call that this line answers. */
  readonly caller?: string;
}

/** Builds the records of a user line: its message, then raw records for content too large for the message's meta. */
export function userRecords(
  line: LineRecord,
  facts: RepeatedFields,
  { branch, left, caller }: UserLineFindings,
): readonly BareRecord[] {
  const { record } = line;
  const id = recordIdOf(line);
  const message = objectOf(record.message) ?? {};
  const { parts, extras } = contentOfBlocks(message.content, FORMAT);
  const { sourceToolAssistantUUID: named, ...rest } = facts.besides(record, knownFieldsOf(record)) ?? {};
  const more = fieldsBesides(message, ["role", "content"]);
  const uuid = textOf(record.uuid);
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
  const isTool = parts.length > 0 && resultsOf(record).length === parts.length;
  const at = timeOf(record.timestamp);
  const raws = Object.entries(large ?? {}).map(([field, value]) =>
    rawRecord(`${id}:${field}`, at, { of: id, [field]: value }),
  );
  return [messageRecord(record, id, { role: isTool ? "tool" : "user", parts, fields }), ...raws];
}
