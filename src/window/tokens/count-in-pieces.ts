/** Runs up to this long are counted as they are. */
const LONGEST_RUN = 256;

/**
 * What tokenizers treat as one word before they merge its bytes: letters, white space, or other signs without a break.
 * Merging takes time by the square of its length.
 */
const LONG_RUN = new RegExp(
  [
    `[\\p{L}\\p{M}]{${LONGEST_RUN + 1},}`,
    `\\s{${LONGEST_RUN + 1},}`,
    `[^\\s\\p{L}\\p{N}]{${LONGEST_RUN + 1},}`,
  ].join("|"),
  "gu",
);

/**
 * Counts a text in time proportional to its length, whatever it is: very long runs of one kind are counted in pieces,
 * which is at most a token or two too much for each piece; all else is exact.
 */
export function countInPieces(text: string, count: (piece: string) => number): number {
  let tokens = 0;
  let start = 0;
  for (const { 0: run, index } of text.matchAll(LONG_RUN)) {
    tokens += countPart(text.slice(start, index), count);
    for (let at = 0; at < run.length; at += LONGEST_RUN) tokens += count(run.slice(at, at + LONGEST_RUN));
    start = index + run.length;
  }
  return tokens + countPart(text.slice(start), count);
}

function countPart(part: string, count: (piece: string) => number): number {
  return part === "" ? 0 : count(part);
}
