import { codesOf, type TextCodes } from "../../model/text-codes.ts";
import { isWhiteSpace } from "../../model/white-space.ts";

/** A range of a text in UTF-16 code units; `to` is exclusive. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
}

/** Sizes of chunks, in characters. */
interface ChunkSize {
  readonly target: number;
  readonly max: number;
}

/** About sixty English words, small enough for a single subject. */
export const PROSE_CHUNK: ChunkSize = { target: 400, max: 600 };

/** About forty lines of code: a function with its surroundings. */
export const CODE_CHUNK: ChunkSize = { target: 1_500, max: 2_200 };

const [TAB, LINE_FEED, SPACE] = [0x09, 0x0a, 0x20] as const;

/** Splits a text into chunks that cover it without gap or overlap, at the best break near the target size. */
export function splitText(text: string, size: ChunkSize = PROSE_CHUNK): Chunk[] {
  const found: Chunk[] = [];
  const codes = text.length > size.max ? codesOf(text) : NO_CODES;
  let from = 0;
  while (text.length - from > size.max) {
    const to = findCut(codes, from, size);
    found.push({ from, to });
    from = to;
  }
  if (from < text.length) found.push({ from, to: text.length });
  return found;
}

const NO_CODES: TextCodes = new Uint16Array();

/**
 * The break nearest to the target size, but not before half of it: a blank line, else a line end, else a sentence end,
 * else a space; of two equally near, the earlier. A single pass, because a text may consist of half-finished breaks.
 */
function findCut(codes: TextCodes, from: number, { target: length, max: most }: ChunkSize): number {
  const [least, target, end] = [from + Math.floor(length / 2), from + length, from + most];
  let [blank, line, sentence, space] = [0, 0, 0, 0];
  const nearer = (best: number, at: number) =>
    at >= least && (best === 0 || Math.abs(at - target) < Math.abs(best - target)) ? at : best;
  let blankEnd = from;
  for (let at = from; at < end; at++) {
    const code = codes[at] as number;
    // Fast path for letters, which make up most of a text.
    if (code > 0x3f && code < 0xa0) continue;
    if (isWhiteSpace(code)) {
      space = nearer(space, at + 1);
      if (code !== LINE_FEED) continue;
      line = nearer(line, at + 1);
      const next = at < blankEnd ? -1 : endOfBlankLine(codes, at, end);
      if (next < 0) continue;
      blank = nearer(blank, next);
      blankEnd = next;
    } else {
      const next = endOfSentence(codes, at, end);
      if (next >= 0) sentence = nearer(sentence, next);
    }
  }
  return blank || line || sentence || space || alignToCharacter(codes, target);
}

/** The end of the blank lines that begin at a line feed; -1 if the next line is not blank. */
function endOfBlankLine(codes: TextCodes, at: number, windowEnd: number): number {
  let end = at + 1;
  while (end < windowEnd && (codes[end] === SPACE || codes[end] === TAB)) end++;
  if (end >= windowEnd || codes[end] !== LINE_FEED) return -1;
  while (end < windowEnd && codes[end] === LINE_FEED) end++;
  return end;
}

/**
 * The end of a sentence at its final character, including closing quotes and one space; -1 if none ends there. East
 * Asian final characters need no space.
 */
function endOfSentence(codes: TextCodes, at: number, windowEnd: number): number {
  const code = codes[at] as number;
  if (code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0xff1b) return at + 1;
  if (code !== 0x2e && code !== 0x21 && code !== 0x3f) return -1;
  let end = at + 1;
  while (end < windowEnd && isClosing(codes[end] as number)) end++;
  return end < windowEnd && isWhiteSpace(codes[end] as number) ? end + 1 : -1;
}

/** True for a quote, an apostrophe or a closing bracket. */
function isClosing(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x29 || code === 0x5d;
}

/** Moves a position out of the middle of a surrogate pair. */
function alignToCharacter(codes: TextCodes, at: number): number {
  const code = codes[at] as number;
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
