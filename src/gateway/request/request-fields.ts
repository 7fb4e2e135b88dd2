import type { Wire, WireObject } from "../../wire/wire.ts";
import type { RequestFields } from "./body-memo.ts";
import type { ByteRange } from "./byte-range.ts";
import { type CutBody, parseRange } from "./cut-body.ts";
import { OUTPUT_FIELDS } from "./output-fields.ts";

/** Longer fields hold content. */
const MAX_FIELD_BYTES = 16 * 1_024;

/** The short fields of a body, parsed once for all bodies with the same frame. Throws `BodyError` if one is not valid JSON. */
export function readRequestFields(api: Wire, cut: CutBody): RequestFields {
  const memo = cut.frame?.memo;
  const fields = memo?.fields ?? parseRequestFields(api, cut);
  if (memo) memo.fields = fields;
  return fields;
}

/** Parses the short fields of a body. Throws `BodyError` if one is not valid JSON. */
export function parseRequestFields(
  { messagesField, leadFields }: Wire,
  { bytes, fields }: CutBody,
): RequestFields {
  const all: Record<string, unknown> = {};
  for (const [name, range] of fields) {
    const isContent = name === messagesField || name === "tools" || leadFields.includes(name);
    if (!isContent && range.to - range.from <= MAX_FIELD_BYTES) all[name] = parseRange(bytes, range);
  }
  const limit = OUTPUT_FIELDS.map((name) => all[name]).find((value) => typeof value === "number");
  return {
    all,
    model: typeof all.model === "string" ? all.model : undefined,
    isStreamed: all.stream === true,
    maxTokens: typeof limit === "number" && limit > 0 ? limit : undefined,
  };
}

/** The text of a system prompt in any form. */
export function getLeadText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(getLeadText).join("\n");
  if (typeof value !== "object" || value === null) return "";
  const { text, content } = value as WireObject;
  return typeof text === "string" ? text : getLeadText(content);
}

/** True if two bodies have the same bytes in a field. */
export function isSameField(one: CutBody, other: CutBody, name: string): boolean {
  const mine = one.fields.get(name);
  const theirs = other.fields.get(name);
  if (!mine || !theirs) return mine === theirs;
  return areSameBytes(one, mine, other, theirs);
}

function areSameBytes(one: CutBody, mine: ByteRange, other: CutBody, theirs: ByteRange): boolean {
  return one.bytes.compare(other.bytes, theirs.from, theirs.to, mine.from, mine.to) === 0;
}
