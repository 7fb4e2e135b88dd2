import { isWhiteSpace } from "../../model/white-space.ts";
import { skipMarks } from "./skip-marks.ts";

const END = /(?<=[.!?…]["')\]]?)\s+(?=\S)|(?<=[。！？；])\s*(?=\S)/u;
const LONG_SENTENCE = 300;
const SHORT_LINE = 16;
const OUTER_CHARACTERS = 131_072;
const NEWLINE = 0x0a;
/** Matches code, tables and rules, which contain no sentences. */
const NO_PROSE =
  /^\s*(?:```|\||[-=*_]{3,}|[{}()[\];,]+\s*$|(?:import|export|const|let|var|function|class|def|return|if|for|while)\b.*[{;(=:]\s*$)/;
/** Patterns that can match a line, by its first character; most lines need no pattern at all. */
const [MAY_BE_FENCE, MAY_BE_NO_PROSE, MAY_BE_MARKED, MAY_BE_RULE] = [1, 2, 4, 8] as const;
const BEGINNINGS = new Uint8Array(128);
for (const [characters, bit] of [
  ["`~", MAY_BE_FENCE],
  ["`|{}()[];,iecvlfdrw", MAY_BE_NO_PROSE],
  ["-=*_", MAY_BE_RULE],
  ["#>-*0123456789", MAY_BE_MARKED],
] as const)
  for (const character of characters) BEGINNINGS[character.charCodeAt(0)] = bitsAt(character, 0, 1) | bit;
const BULLET = 0x2022;
/** A line that does not match contains no sentence end before its last character. */
const MAY_END = /[.!?…。！？；][\s\S]/;
let segmenter: Intl.Segmenter | undefined;

/** The sentences of a text, line by line, without list and heading marks; code blocks are skipped. */
export function splitSentences(text: string): readonly string[] {
  const sentences: string[] = [];
  let isCode = false;
  for (let from = 0, end = 0; from < text.length; from = end + 1) {
    end = findLineEnd(text, from);
    while (from < end && isWhiteSpace(text.charCodeAt(from))) from++;
    if (from === end) continue;
    const bits = bitsAt(text, from, end);
    if ((bits & MAY_BE_FENCE) !== 0 && isFence(text, from, end)) isCode = !isCode;
    if (isCode || (mayBeNoProse(text, from, end, bits) && NO_PROSE.test(text.slice(from, end)))) continue;
    const start = (bits & MAY_BE_MARKED) === 0 ? from : skipMarks(text, from, end);
    const plain = trimmed(text.slice(start, end));
    if (plain !== "") addSentences(sentences, plain);
  }
  return sentences;
}

/** The sentences at the beginning and the end of a text; skips the middle of a very long one. */
export function splitOuterSentences(text: string): readonly string[] {
  if (text.length <= 2 * OUTER_CHARACTERS) return splitSentences(text);
  const [head, tail] = [text.slice(0, OUTER_CHARACTERS), text.slice(-OUTER_CHARACTERS)];
  return [...splitSentences(head), ...splitSentences(tail)];
}

/** Looks at the first few characters one by one: a search of its own for each of many short lines takes longer. */
function findLineEnd(text: string, from: number): number {
  const near = Math.min(from + SHORT_LINE, text.length);
  for (let at = from; at < near; at++) if (text.charCodeAt(at) === NEWLINE) return at;
  const next = near < text.length ? text.indexOf("\n", near) : -1;
  return next < 0 ? text.length : next;
}

/** True for the line of a text between two places that begins or ends a block of code. */
function isFence(text: string, from: number, end: number): boolean {
  return from + 3 <= end && (text.startsWith("```", from) || text.startsWith("~~~", from));
}

/** Adds the sentences of a trimmed line. */
function addSentences(sentences: string[], line: string): void {
  if (line.length <= LONG_SENTENCE && (line.length === 1 || !MAY_END.test(line))) sentences.push(line);
  else
    for (const piece of line.split(END)) {
      const own =
        piece.length > LONG_SENTENCE && /[^\x20-\x7e]/.test(piece) ? segmentSentences(piece) : [piece];
      for (const sentence of own.map(trimmed)) if (sentence !== "") sentences.push(sentence);
    }
}

/** Like `trim`, but faster for text with nothing to trim. */
function trimmed(text: string): string {
  if (text === "") return text;
  const isBare = isPrinted(text.charCodeAt(0)) && isPrinted(text.charCodeAt(text.length - 1));
  return isBare ? text : text.trim();
}

function isPrinted(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

function mayBeNoProse(text: string, from: number, end: number, bits: number): boolean {
  if ((bits & MAY_BE_NO_PROSE) !== 0) return true;
  // A rule repeats its character; a list mark does not.
  return (bits & MAY_BE_RULE) !== 0 && (bitsAt(text, from + 1, end) & MAY_BE_RULE) !== 0;
}

function bitsAt(text: string, at: number, end: number): number {
  const code = at < end ? text.charCodeAt(at) : 0;
  if (code < 128) return BEGINNINGS[code] as number;
  return code === BULLET ? MAY_BE_MARKED : 0;
}

/** Handles scripts that end sentences with other characters, or with none. */
function segmentSentences(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "sentence" });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}
