import type { Json, PartInput } from "../../index.ts";
import { contentOfBlocks } from "../content/anthropic-blocks.ts";
import type { Extras } from "../content/blocks.ts";
import { definedFields, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import { type BareRecord, type Fields, FORMAT, knownFieldsOf, messageRecord } from "./line-records.ts";
import { messageIdOf, recordIdOf } from "./lines.ts";
import type { RepeatedFields } from "./repeated-fields.ts";
import { usageBodyOf } from "./usage.ts";

/** Message fields that are decoded; other fields go into `meta`. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(["id", "type", "role", "model", "content", "usage"]);

/** Returns the record id of a message; `piece` numbers the pieces of a message that arrived in several. */
export function groupIdOf(line: LineRecord, piece: number): string {
  const id = messageIdOf(line.record);
  if (id === undefined) return recordIdOf(line);
  return piece === 1 ? `msg:${id}` : `msg:${id}:${piece}`;
}

/** Builds the records of one assistant message from its lines: the message, then its usage. */
export function assistantRecords(
  id: string,
  lines: readonly LineRecord[],
  facts: RepeatedFields,
  branch: Json | undefined,
): readonly BareRecord[] {
  const [first, last] = [lines[0], lines.at(-1)] as [LineRecord, LineRecord];
  const { parts, extras, counts } = contentOf(lines);
  const usage = usageBodyOf(last.record);
  const fields = {
    ...lineRest(lines, facts),
    ...definedFields({
      id: messageIdOf(first.record),
      parentUuid: branch,
      message: messageRest(lines),
      requestId: usage ? undefined : textOf(last.record.requestId),
      extras,
    }),
    ...placesOf(lines, counts),
  };
  const model = textOf(objectOf(last.record.message)?.model);
  const message = messageRecord(first.record, id, {
    role: "assistant",
    parts,
    fields,
    ...definedFields({ model }),
  });
  // A message that grows during the import gets a new version.
  const version = String(lines.length);
  const at = definedFields({ at: timeOf(first.record.timestamp) });
  return [{ ...message, version }, ...(usage ? [{ id: `${id}:usage`, version, ...at, body: usage }] : [])];
}

function contentOf(lines: readonly LineRecord[]) {
  const parts: PartInput[] = [];
  const extras: [string, Extras[string]][] = [];
  const counts: number[] = [];
  for (const { record } of lines) {
    const content = contentOfBlocks(objectOf(record.message)?.content, FORMAT);
    for (const [index, extra] of Object.entries(content.extras ?? {}))
      extras.push([String(parts.length + Number(index)), extra as Extras[string]]);
    for (const one of content.parts) parts.push(one);
    counts.push(content.parts.length);
  }
  return { parts, counts, extras: extras.length > 0 ? Object.fromEntries(extras) : undefined };
}

/** Collects line ids, delays relative to the first line, and block counts if a line does not have exactly one block. */
function placesOf(lines: readonly LineRecord[], counts: readonly number[]): Fields {
  const uuids = lines.flatMap(({ record }) => textOf(record.uuid) ?? []);
  const times = lines.map(({ record }) => timeOf(record.timestamp) ?? Number.NaN);
  const delays = times.map((time) => time - (times[0] as number));
  return definedFields({
    uuids: uuids.length === lines.length ? uuids : undefined,
    delays: delays.every(Number.isFinite) && delays.some((delay) => delay !== 0) ? delays : undefined,
    blocks: counts.some((count) => count !== 1) ? counts : undefined,
  });
}

/** Collects undecoded message fields; the last line with a field wins. */
function messageRest(lines: readonly LineRecord[]): Fields | undefined {
  const rest: [string, Json][] = [];
  for (const { record } of lines) {
    const message = objectOf(record.message) ?? {};
    for (const field of Object.keys(message)) {
      const value = message[field] as Json | undefined;
      if (value !== null && value !== undefined && !MESSAGE_FIELDS.has(field)) rest.push([field, value]);
    }
  }
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

function lineRest(lines: readonly LineRecord[], facts: RepeatedFields): Fields | undefined {
  const rest: [string, Json][] = [];
  for (const { record } of lines) {
    const fields = facts.besides(record, knownFieldsOf(record));
    if (fields) for (const one of Object.entries(fields)) rest.push(one);
  }
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}
