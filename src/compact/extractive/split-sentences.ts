import { isWhiteSpace } from "../../model/white-space.ts";
import { skipMarks } from "./skip-marks.ts";

const END = /(?<=[.!?…]["')\]]?)\s+(?=\S)|(?<=[。！？；])\s*(?=\S)/u;
const LONG_SENTENCE = 300;
/** Matches code, tables and rules, which contain no sentences. */
const NO_PROSE =
  /^\s*(?:```|\||[-=*_]{3,}|[{}()[\];,]+\s*$|(?:import|export|const|let|var|function|class|def|return|if|for|while)\b.*[{;(=:]\s*$)/;
const FENCE = /^(?:```|~~~)/;
/** Patterns that can match a line, by its first character; most lines need no pattern at all. */
const [MAY_BE_FENCE, MAY_BE_NO_PROSE, MAY_BE_MARKED, MAY_BE_RULE] = [1, 2, 4, 8] as const;
const BEGINNINGS = new Uint8Array(128);
for (const [characters, bit] of [
  ["`~", MAY_BE_FENCE],
  ["`|{}()[];,iecvlfdrw", MAY_BE_NO_PROSE],
  ["-=*_", MAY_BE_RULE],
  ["#>-*0123456789", MAY_BE_MARKED],
] as const)
  for (const character of characters) BEGINNINGS[character.charCodeAt(0)] = bitsAt(character, 0) | bit;
const BULLET = 0x2022;
/** A line that does not match contains no sentence end before its last character. */
const MAY_END = /[.!?…。！？；][\s\S]/;
let segmenter: Intl.Segmenter | undefined;

/** The sentences of a text, line by line, without list and heading marks; code blocks are skipped. */
export function splitSentences(text: string): readonly string[] {
  const sentences: string[] = [];
  let isCode = false;
  for (let from = 0, end = 0; from < text.length; from = end + 1) {
    const next = text.indexOf("\n", from);
    end = next < 0 ? text.length : next;
    while (from < end && isWhiteSpace(text.charCodeAt(from))) from++;
    if (from === end) continue;
    const line = text.slice(from, end);
    const bits = bitsAt(line, 0);
    if ((bits & MAY_BE_FENCE) !== 0 && FENCE.test(line)) isCode = !isCode;
    if (isCode || (mayBeNoProse(line, bits) && NO_PROSE.test(line))) continue;
    const plain = trimmed((bits & MAY_BE_MARKED) === 0 ? line : line.slice(skipMarks(line)));
    if (plain !== "") addSentences(sentences, plain);
  }
  return sentences;
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

function mayBeNoProse(line: string, bits: number): boolean {
  if ((bits & MAY_BE_NO_PROSE) !== 0) return true;
  // A rule repeats its character; a list mark does not.
  return (bits & bitsAt(line, 1) & MAY_BE_RULE) !== 0;
}

function bitsAt(line: string, at: number): number {
  const code = at < line.length ? line.charCodeAt(at) : 0;
  if (code < 128) return BEGINNINGS[code] as number;
  return code === BULLET ? MAY_BE_MARKED : 0;
}

/** Handles scripts that end sentences with other characters, or with none. */
function segmentSentences(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "sentence" });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}
