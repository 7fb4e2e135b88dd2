import { arrayOf, objectOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseJson } from "../reading/parse-json.ts";

/**
 * A stretch of a text that stands in a message nearby: the message's distance (0 is the next one of the conversation),
 * its block, which text of the block, where the stretch begins and how long it is, and 1 if it is written as in JSON.
 */
export type Copy = readonly [
  distance: number,
  block: number,
  text: number,
  from: number,
  length: number,
  escaped: 0 | 1,
];

/** A text as what is its own and what is copied. */
export type Pieces = readonly (string | Copy)[];

/** A message of the conversation by its distance. */
export interface Nearby {
  readonly distance: number;
  readonly blocks: readonly JsonObject[];
}

/** Shorter stretches cost more to point at than to keep. */
const MIN_LENGTH = 40;

/** Content as blocks, whichever way it is written. */
export function blocksOfContent(content: unknown): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return arrayOf(content).map((block) => objectOf(block) ?? {});
}

/** The texts a block holds, in a fixed order. */
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

/** The text in pieces that point to copies nearby; undefined if there is none. */
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

/** The text of pieces; undefined if a message they point to is not what it was. */
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

/** How many bytes of a text its pieces leave to others. */
export function copiedBytes(text: string, pieces: Pieces): number {
  const own = pieces.filter((piece) => typeof piece === "string");
  return Math.max(0, Buffer.byteLength(text) - Buffer.byteLength(own.join("")));
}

interface Candidate {
  readonly place: readonly [distance: number, block: number, text: number];
  readonly text: string;
}

/** Texts that are long enough to be pointed at, longest first. */
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

/** The long texts of an object in JSON. */
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
