import { rawSlices, textSlices } from "./json-text.ts";
import { hasMark, type LiftedValue, MARK } from "./lift.ts";

/** A piece of a text: literal text, or the value of a placeholder. */
type Stretch = string | LiftedValue;

/** Notation of placeholders in a text: literal, or as JSON strings with quotes. */
type Writing = "text" | "json";

/** The large values of a message by mark, and the body that contains them. */
export interface Placeholders {
  readonly body: Buffer;
  readonly values: ReadonlyMap<string, LiftedValue>;
}

/** The value of a text that is exactly one placeholder; undefined for any other text. */
export function standsFor({ values }: Placeholders, text: string): LiftedValue | undefined {
  if (!hasMark(text)) return undefined;
  const value = values.get(text.match(MARK)?.[0] ?? "");
  return value?.placeholder === text ? value : undefined;
}

/** The value of the last mark in a text, regardless of the text before it. */
export function markedIn({ values }: Placeholders, text: string): LiftedValue | undefined {
  return hasMark(text) ? values.get(text.match(MARK)?.at(-1) ?? "") : undefined;
}

/** The bytes of a text with its placeholders replaced by their values, piece by piece. */
export function* undone(placeholders: Placeholders, text: string, writing: Writing): Generator<Uint8Array> {
  for (const stretch of stretchesOf(placeholders, text, writing)) {
    if (typeof stretch === "string") yield Buffer.from(stretch);
    else if (writing === "json" || !stretch.isText) yield* rawSlices(placeholders.body, stretch);
    else for (const { bytes } of textSlices(placeholders.body, stretch)) yield bytes;
  }
}

/** Shortens each placeholder to the beginning of its value and an ellipsis. */
export function shortened(text: string): string {
  return hasMark(text) ? text.replace(MARK, "…") : text;
}

function* stretchesOf({ values }: Placeholders, text: string, writing: Writing): Generator<Stretch> {
  let at = 0;
  for (const { 0: mark, index } of text.matchAll(MARK)) {
    const value = values.get(mark);
    if (!value) continue;
    const written = writing === "json" ? JSON.stringify(value.placeholder) : value.placeholder;
    const from = index - written.indexOf(mark);
    if (from < at || text.slice(from, from + written.length) !== written) continue;
    if (from > at) yield text.slice(at, from);
    yield value;
    at = from + written.length;
  }
  if (at < text.length) yield text.slice(at);
}
