import { findRuns, formatLines, type LineCut } from "./line-cut.ts";

const MIN_LINES = 4;
const NUMBERS = /\d+(?:[.,:]\d+)*/g;
/** Marks of a line that reports progress; other lines that differ in their numbers may be data. */
const PROGRESS = /\d\s?%|\b\d+\s?(?:\/|of)\s?\d+\b|\b\d+(?:\.\d+)?\s?[kMG]i?B\b/;

/** Runs of equal lines, and of progress reports that differ only in their numbers; the ends of a run stay. */
export function cutLikeLines(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  cite: string,
): readonly LineCut[] {
  const shapes = lines.map((line) => (PROGRESS.test(line) ? line.replace(NUMBERS, "0") : line));
  const isLike = (index: number) =>
    isFree(index) && shapes[index] !== "" && shapes[index] === shapes[index - 1] && isFree(index - 1);
  return findRuns(lines, isLike, MIN_LINES - 1).flatMap(({ from, to }) => {
    const isSame = lines.slice(from, to + 1).every((line) => line === lines[from - 1]);
    if (isSame) {
      const count = to - from + 1;
      return [{ from, to, lines: [`[The line above stands here ${count} more times]`] }];
    }
    const inner = to - 1;
    if (inner - from < 1) return [];
    const note = `[Lines ${formatLines(from, inner)} left out: progress like the lines around them; to see it: expand ${cite}]`;
    return [{ from, to: inner, lines: [note] }];
  });
}
