import type { Api, JsonObject } from "../api/api.ts";
import { type CutBody, parsed, type Range } from "../body/cut.ts";
import { OUTPUT_FIELDS } from "../body/output-fields.ts";

/** What a request says besides its messages, tools and system prompt, as far as the gateway reads it. */
export interface RequestFields {
  /** Fields that are short enough to be of interest. */
  readonly all: JsonObject;
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Most tokens of the reply. */
  readonly maxTokens: number | undefined;
}

/** Longer fields hold content. */
const MOST_BYTES = 16 * 1_024;

/** Reads the short fields of a body. Throws `BodyError` if one is no JSON. */
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

/** The words of a system prompt, however it is written. */
export function leadText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(leadText).join("\n");
  if (typeof value !== "object" || value === null) return "";
  const { text, content } = value as JsonObject;
  return typeof text === "string" ? text : leadText(content);
}

/** True if two bodies hold the same bytes in a field. */
export function isSameField(one: CutBody, other: CutBody, name: string): boolean {
  const mine = one.fields.get(name);
  const theirs = other.fields.get(name);
  if (!mine || !theirs) return mine === theirs;
  return isSameRange(one, mine, other, theirs);
}

function isSameRange(one: CutBody, mine: Range, other: CutBody, theirs: Range): boolean {
  return one.bytes.compare(other.bytes, theirs.from, theirs.to, mine.from, mine.to) === 0;
}
