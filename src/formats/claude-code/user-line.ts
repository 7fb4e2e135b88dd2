import type { Json } from "../../index.ts";
import { contentOfBlocks } from "../content/anthropic-blocks.ts";
import { definedFields, fieldsBesides, objectOf, textOf, timeOf } from "../content/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import { type BareRecord, FORMAT, knownFieldsOf, messageRecord, rawRecord } from "./line-records.ts";
import { recordIdOf, resultsOf } from "./lines.ts";
import type { RepeatedFields } from "./repeated-fields.ts";

/** What is known of a line besides itself. */
export interface UserLineFindings {
  /** Its parent, where it leaves the line. */
  readonly branch?: Json;
  /** What its tool result says beside the message. */
  readonly left?: Json;
  /** The line of the call that it answers. */
  readonly caller?: string;
}

/** A line of the user: its message, then as raw records what is too large for the message's meta. */
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
  const { small, large } = splitLeftovers({
    ...rest,
    ...definedFields({
      sourceToolAssistantUUID: named === caller ? undefined : named,
      message: fieldsBesides(message, ["role", "content"]),
      toolUseResult: left,
    }),
  });
  const fields = { ...small, ...definedFields({ uuid: textOf(record.uuid), parentUuid: branch, extras }) };
  const isTool = parts.length > 0 && resultsOf(record).length === parts.length;
  const at = timeOf(record.timestamp);
  const raws = Object.entries(large ?? {}).map(([field, value]) =>
    rawRecord(`${id}:${field}`, at, { of: id, [field]: value }),
  );
  return [messageRecord(record, id, { role: isTool ? "tool" : "user", parts, fields }), ...raws];
}
