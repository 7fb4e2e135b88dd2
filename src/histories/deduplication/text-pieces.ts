import { escapeJson } from "../../model/base/fence.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { toArray, toObject } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/**
 * A stretch of text that also occurs in a nearby message: the message's distance (0 is the next one of the
 * conversation), its block, the index of the text in the block, start and length of the stretch, and 1 if it is
 * JSON-escaped.
 */
type TextCopy = readonly [
  distance: number,
  block: number,
  text: number,
  from: number,
  length: number,
  escaped: 0 | 1,
];

/** A text in pieces: its own words, and copies of other text. */
export type TextPieces = readonly (string | TextCopy)[];

/** A nearby message of the conversation. */
export interface NearbyMessage {
  readonly distance: number;
  readonly blocks: readonly JsonObject[];
}

/** Shorter stretches cost more to reference than to keep. */
const MIN_LENGTH = 40;

/** Returns content as blocks, whether it is a string or an array. */
export function toContentBlocks(content: unknown): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return toArray(content).map((block) => toObject(block) ?? {});
}

/** Returns the texts of a block, in a fixed order. */
export function getBlockTexts(block: JsonObject): readonly string[] {
  switch (block.type) {
    case "text":
    case "reasoning":
      return typeof block.text === "string" ? [block.text] : [];
    case "thinking":
      return typeof block.thinking === "string" ? [block.thinking] : [];
    case "tool_use":
      return collectStrings(block.input);
    case "tool_result":
      return toContentBlocks(block.content).flatMap(getBlockTexts);
    case "image": {
      const data = toObject(block.source)?.data;
      return typeof data === "string" ? [data] : [];
    }
    default:
      return [];
  }
}

/** Splits a text into pieces that reference copies nearby; undefined if there are none. */
export function splitCopies(text: string, nearby: readonly NearbyMessage[]): TextPieces | undefined {
  if (text.length < MIN_LENGTH) return undefined;
  const candidates = listCandidates(nearby);
  for (const { place, text: whole } of candidates) {
    const from = whole.indexOf(text);
    if (from >= 0) return [[...place, from, text.length, 0]];
  }
  const isJson = text.startsWith("{");
  let pieces: TextPieces = [text];
  for (const field of isJson ? findLongFields(text) : []) {
    const source = candidates.find((candidate) => candidate.text.includes(field));
    if (!source) continue;
    const copy: TextCopy = [...source.place, source.text.indexOf(field), field.length, 1];
    pieces = cutOutCopy(pieces, escapeJson(field), copy);
  }
  for (const { place, text: copied } of candidates) {
    pieces = cutOutCopy(pieces, copied, [...place, 0, copied.length, 0]);
    if (isJson) pieces = cutOutCopy(pieces, escapeJson(copied), [...place, 0, copied.length, 1]);
  }
  return pieces.length > 1 || typeof pieces[0] !== "string" ? pieces : undefined;
}

/** Joins pieces into their text; undefined if a referenced message has changed. */
export function joinPieces(
  pieces: TextPieces,
  textsAt: (distance: number, block: number) => readonly string[],
): string | undefined {
  let text = "";
  for (const piece of pieces) {
    if (typeof piece === "string") text += piece;
    else {
      const [distance, block, which, from, length, isEscaped] = piece;
      const stretch = textsAt(distance, block)[which]?.slice(from, from + length);
      if (stretch?.length !== length) return undefined;
      text += isEscaped === 1 ? escapeJson(stretch) : stretch;
    }
  }
  return text;
}

/** Counts the bytes of a text that its pieces reference instead of holding. */
export function countCopiedBytes(text: string, pieces: TextPieces): number {
  const own = pieces.filter((piece) => typeof piece === "string");
  return Math.max(0, Buffer.byteLength(text) - Buffer.byteLength(own.join("")));
}

interface CopyCandidate {
  readonly place: readonly [distance: number, block: number, text: number];
  readonly text: string;
}

/** Lists texts that are long enough to reference, longest first. */
function listCandidates(nearby: readonly NearbyMessage[]): readonly CopyCandidate[] {
  const candidates = nearby.flatMap(({ distance, blocks }) =>
    blocks.flatMap((block, index) =>
      getBlockTexts(block).flatMap((text, which): readonly CopyCandidate[] =>
        text.length < MIN_LENGTH ? [] : [{ place: [distance, index, which], text }],
      ),
    ),
  );
  return candidates.sort((a, b) => b.text.length - a.text.length);
}

/** Returns the long strings in a JSON text. */
function findLongFields(text: string): readonly string[] {
  try {
    return collectStrings(parseJson(text)).filter(({ length }) => length >= MIN_LENGTH);
  } catch {
    return [];
  }
}

function cutOutCopy(pieces: TextPieces, copied: string, copy: TextCopy): TextPieces {
  return pieces.flatMap((piece) => {
    if (typeof piece !== "string") return [piece];
    const from = piece.indexOf(copied);
    if (from < 0) return [piece];
    const [before, after] = [piece.slice(0, from), piece.slice(from + copied.length)];
    return [before, copy, after].filter((part) => part !== "");
  });
}

function collectStrings(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(collectStrings);
}
