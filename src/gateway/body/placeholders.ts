import { rawSlices, textSlices } from "./json-text.ts";
import { hasMark, type LiftedValue, MARK } from "./lift.ts";

/** A stretch of a text: as it stands, or a value of the body that a placeholder stands for. */
type Stretch = string | LiftedValue;

/** How placeholders are written in a text: as they are, or inside JSON with its quotes. */
export type Writing = "text" | "json";

/** Large values of a message, by their mark, and the body that holds them. */
export interface Placeholders {
  readonly body: Buffer;
  readonly values: ReadonlyMap<string, LiftedValue>;
}

/** The value that a text stands for; undefined if the text is no placeholder, or more than one. */
export function standsFor({ values }: Placeholders, text: string): LiftedValue | undefined {
  if (!hasMark(text)) return undefined;
  const value = values.get(text.match(MARK)?.[0] ?? "");
  return value?.placeholder === text ? value : undefined;
}

/** The value of the last mark in a text, whatever stands before it. */
export function markedIn({ values }: Placeholders, text: string): LiftedValue | undefined {
  return hasMark(text) ? values.get(text.match(MARK)?.at(-1) ?? "") : undefined;
}

/** The bytes of a text with all of its placeholders undone, piece by piece. */
export function* undone(placeholders: Placeholders, text: string, writing: Writing): Generator<Uint8Array> {
  for (const stretch of stretchesOf(placeholders, text, writing)) {
    if (typeof stretch === "string") yield Buffer.from(stretch);
    else if (writing === "json" || !stretch.isText) yield* rawSlices(placeholders.body, stretch);
    else for (const { bytes } of textSlices(placeholders.body, stretch)) yield bytes;
  }
}

/** A text of which each placeholder is only the head of what it stands for. */
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
