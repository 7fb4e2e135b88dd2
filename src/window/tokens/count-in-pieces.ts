/** Longest run, in characters, that is counted in one piece. */
const MAX_RUN = 256;

/**
 * Runs that tokenizers treat as one word before merging bytes: letters, white space, or other characters without a
 * break. Merging takes quadratic time in their length.
 */
const LONG_RUN = new RegExp(
  [`[\\p{L}\\p{M}]{${MAX_RUN + 1},}`, `\\s{${MAX_RUN + 1},}`, `[^\\s\\p{L}\\p{N}]{${MAX_RUN + 1},}`].join(
    "|",
  ),
  "gu",
);

/**
 * Counts any text in linear time. Very long runs of one kind are counted in pieces, which adds at most a token or two
 * per piece; everything else is exact.
 */
export function countInPieces(text: string, count: (piece: string) => number): number {
  let tokens = 0;
  let start = 0;
  for (const { 0: run, index } of text.matchAll(LONG_RUN)) {
    tokens += countPart(text.slice(start, index), count);
    for (let at = 0; at < run.length; at += MAX_RUN) tokens += count(run.slice(at, at + MAX_RUN));
    start = index + run.length;
  }
  return tokens + countPart(text.slice(start), count);
}

function countPart(part: string, count: (piece: string) => number): number {
  return part === "" ? 0 : count(part);
}
