import type { Api, JsonObject } from "../api/api.ts";
import { type CutBody, parsed, type Range } from "../body/cut.ts";
import { OUTPUT_FIELDS } from "../body/output-fields.ts";

/** Fields of a request, other than messages, tools and system prompt, that the gateway reads. */
export interface RequestFields {
  /** All short fields. */
  readonly all: JsonObject;
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Maximum tokens of the reply. */
  readonly maxTokens: number | undefined;
}

/** Longer fields hold content. */
const MOST_BYTES = 16 * 1_024;

/** Parses the short fields of a body. Throws `BodyError` if one is not valid JSON. */
export function requestFields({ messagesField, leadFields }: Api, { bytes, fields }: CutBody): RequestFields {
  const all: Record<string, unknown> = {};
  for (const [name, range] of fields) {
    const isContent = name === messagesField || name === "tools" || leadFields.includes(name);
    if (!isContent && range.to - range.from <= MOST_BYTES) all[name] = parsed(bytes, range);
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
export function leadText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(leadText).join("\n");
  if (typeof value !== "object" || value === null) return "";
  const { text, content } = value as JsonObject;
  return typeof text === "string" ? text : leadText(content);
}

/** True if two bodies have the same bytes in a field. */
export function isSameField(one: CutBody, other: CutBody, name: string): boolean {
  const mine = one.fields.get(name);
  const theirs = other.fields.get(name);
  if (!mine || !theirs) return mine === theirs;
  return isSameRange(one, mine, other, theirs);
}

function isSameRange(one: CutBody, mine: Range, other: CutBody, theirs: Range): boolean {
  return one.bytes.compare(other.bytes, theirs.from, theirs.to, mine.from, mine.to) === 0;
}
