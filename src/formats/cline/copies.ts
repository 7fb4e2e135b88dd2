import { arrayOf, objectOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseJson } from "../reading/parse-json.ts";

/**
 * A stretch of text that also occurs in a nearby message: the message's distance (0 is the next one of the
 * conversation), its block, the index of the text in the block, start and length of the stretch, and 1 if it is
 * JSON-escaped.
 */
export type Copy = readonly [
  distance: number,
  block: number,
  text: number,
  from: number,
  length: number,
  escaped: 0 | 1,
];

/** A text split into own text and copies. */
export type Pieces = readonly (string | Copy)[];

/** A nearby message of the conversation. */
export interface Nearby {
  readonly distance: number;
  readonly blocks: readonly JsonObject[];
}

/** Shorter stretches cost more to reference than to keep. */
const MIN_LENGTH = 40;

/** Returns content as blocks, whether it is a string or an array. */
export function blocksOfContent(content: unknown): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return arrayOf(content).map((block) => objectOf(block) ?? {});
}

/** Returns the texts of a block, in a fixed order. */
export function textsOfBlock(block: JsonObject): readonly string[] {
  switch (block.type) {
    case "text":
    case "reasoning":
      return typeof block.text === "string" ? [block.text] : [];
    case "thinking":
      return typeof block.thinking === "string" ? [block.thinking] : [];
    case "tool_use":
      return stringsIn(block.input);
    case "tool_result":
      return blocksOfContent(block.content).flatMap(textsOfBlock);
    case "image": {
      const data = objectOf(block.source)?.data;
      return typeof data === "string" ? [data] : [];
    }
    default:
      return [];
  }
}

/** Splits a text into pieces that reference copies nearby; undefined if there are none. */
export function piecesOf(text: string, nearby: readonly Nearby[]): Pieces | undefined {
  if (text.length < MIN_LENGTH) return undefined;
  const candidates = candidatesIn(nearby);
  for (const { place, text: whole } of candidates) {
    const from = whole.indexOf(text);
    if (from >= 0) return [[...place, from, text.length, 0]];
  }
  const isJson = text.startsWith("{");
  let pieces: Pieces = [text];
  for (const field of isJson ? longFields(text) : []) {
    const source = candidates.find((candidate) => candidate.text.includes(field));
    if (!source) continue;
    const copy: Copy = [...source.place, source.text.indexOf(field), field.length, 1];
    pieces = cutOut(pieces, escaped(field), copy);
  }
  for (const { place, text: copied } of candidates) {
    pieces = cutOut(pieces, copied, [...place, 0, copied.length, 0]);
    if (isJson) pieces = cutOut(pieces, escaped(copied), [...place, 0, copied.length, 1]);
  }
  return pieces.length > 1 || typeof pieces[0] !== "string" ? pieces : undefined;
}

/** Joins pieces into their text; undefined if a referenced message has changed. */
export function textOfPieces(
  pieces: Pieces,
  textsAt: (distance: number, block: number) => readonly string[],
): string | undefined {
  let text = "";
  for (const piece of pieces) {
    if (typeof piece === "string") text += piece;
    else {
      const [distance, block, which, from, length, isEscaped] = piece;
      const stretch = textsAt(distance, block)[which]?.slice(from, from + length);
      if (stretch?.length !== length) return undefined;
      text += isEscaped === 1 ? escaped(stretch) : stretch;
    }
  }
  return text;
}

/** Counts the bytes of a text that its pieces reference instead of holding. */
export function copiedBytes(text: string, pieces: Pieces): number {
  const own = pieces.filter((piece) => typeof piece === "string");
  return Math.max(0, Buffer.byteLength(text) - Buffer.byteLength(own.join("")));
}

interface Candidate {
  readonly place: readonly [distance: number, block: number, text: number];
  readonly text: string;
}

/** Lists texts that are long enough to reference, longest first. */
function candidatesIn(nearby: readonly Nearby[]): readonly Candidate[] {
  const candidates = nearby.flatMap(({ distance, blocks }) =>
    blocks.flatMap((block, index) =>
      textsOfBlock(block).flatMap((text, which): readonly Candidate[] =>
        text.length < MIN_LENGTH ? [] : [{ place: [distance, index, which], text }],
      ),
    ),
  );
  return candidates.sort((a, b) => b.text.length - a.text.length);
}

/** Returns the long strings in a JSON text. */
function longFields(text: string): readonly string[] {
  try {
    return stringsIn(parseJson(text)).filter(({ length }) => length >= MIN_LENGTH);
  } catch {
    return [];
  }
}

function cutOut(pieces: Pieces, copied: string, copy: Copy): Pieces {
  return pieces.flatMap((piece) => {
    if (typeof piece !== "string") return [piece];
    const from = piece.indexOf(copied);
    if (from < 0) return [piece];
    const [before, after] = [piece.slice(0, from), piece.slice(from + copied.length)];
    return [before, copy, after].filter((part) => part !== "");
  });
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(stringsIn);
}
