import { findRuns, type LineCut } from "./line-cut.ts";

const MIN_LINES = 3;
const MIN_PATH_CHARACTERS = 12;
/** A search hit: a path, then the number of the line, between colons or, for context, dashes. */
const HIT = /^((?:[A-Za-z]:)?[^\s:]{3,300}?)([:-])(\d+)\2/;

/** Consecutive hits of a search in one file: the path stands once above them instead of before each line. */
export function cutSearchPaths(
  lines: readonly string[],
  isFree: (index: number) => boolean,
): readonly LineCut[] {
  const paths = lines.map((line, index) => (isFree(index) ? HIT.exec(line)?.[1] : undefined));
  const cuts: LineCut[] = [];
  for (const { from, to } of findRuns(lines, (index) => paths[index] !== undefined, MIN_LINES)) {
    for (let first = from; first <= to; ) {
      const path = paths[first] as string;
      let last = first;
      while (last < to && paths[last + 1] === path) last++;
      if (last - first + 1 >= MIN_LINES && path.length >= MIN_PATH_CHARACTERS) {
        const hits = lines.slice(first, last + 1).map((line) => line.slice(path.length + 1));
        cuts.push({ from: first, to: last, lines: [`${path}:`, ...hits] });
      }
      first = last + 1;
    }
  }
  return cuts;
}
