/** A range of a text, in UTF-16 units; `to` is exclusive. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
}

/** Sizes of chunks, in characters. */
export interface ChunkSize {
  readonly target: number;
  readonly most: number;
}

/** About sixty English words, small enough for a single subject. */
export const PROSE_CHUNK: ChunkSize = { target: 400, most: 600 };

/** About forty lines of code: a function with its surroundings. */
export const CODE_CHUNK: ChunkSize = { target: 1_500, most: 2_200 };

/** Places where a text may be split, best first: a blank line, a line end, a sentence end, a space. */
const BREAKS = [/\n[ \t]*\n+/g, isLineEnd, /[.!?]["')\]]*\s|[。！？；]/g, isSpace] as const;

function isLineEnd(code: number): boolean {
  return code === 0x0a;
}

/** True for the characters that \s matches in a regular expression. */
function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return code >= 0xa0 && OTHER_SPACES.has(code);
}

const OTHER_SPACES: ReadonlySet<number> = new Set([
  0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
  0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
]);

/** Splits a text into chunks that cover it without gap or overlap, at the best break near the target size. */
export function chunks(text: string, size: ChunkSize = PROSE_CHUNK): Chunk[] {
  const found: Chunk[] = [];
  let from = 0;
  while (text.length - from > size.most) {
    const to = cutBefore(text, from, size);
    found.push({ from, to });
    from = to;
  }
  if (from < text.length) found.push({ from, to: text.length });
  return found;
}

function cutBefore(text: string, from: number, { target, most }: ChunkSize): number {
  const window = text.slice(from, from + most);
  const least = Math.floor(target / 2);
  for (const pattern of BREAKS) {
    const best =
      typeof pattern === "object"
        ? nearestMatch(window, pattern, target, least)
        : nearestCharacter(window, pattern, target, least);
    if (best >= least) return from + best;
  }
  return from + wholeCharacter(window, target);
}

/** The end of the match nearest to the target, the earlier of two; 0 if there is none from `least` on. */
function nearestMatch(window: string, pattern: RegExp, target: number, least: number): number {
  let best = 0;
  for (const match of window.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end >= least && Math.abs(end - target) < Math.abs(best - target)) best = end;
  }
  return best;
}

/** The same for a single character. Searches from the target outwards, because a text may consist of nothing else. */
function nearestCharacter(
  window: string,
  isWanted: (code: number) => boolean,
  target: number,
  least: number,
): number {
  const isBreak = (end: number) => {
    if (end < least || end > window.length || end < 1) return false;
    return isWanted(window.charCodeAt(end - 1));
  };
  for (let away = 0; away <= Math.max(target, window.length - target); away++) {
    if (isBreak(target - away)) return target - away;
    if (isBreak(target + away)) return target + away;
  }
  return 0;
}

/** Avoids a split inside a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
