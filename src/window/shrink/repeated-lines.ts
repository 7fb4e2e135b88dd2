import { countSavedCharacters, findRuns, type LineCut } from "./line-cut.ts";
import { formatPointer } from "./pointer.ts";
import type { LineMatch, ShownLines, ShownResult } from "./shown-lines.ts";

/** Characters that a pointer must save; below that, it costs the reader more than it saves. */
const MIN_SAVED_CHARACTERS = 100;

/** Limits of a search for repeated lines. */
interface RepeatLimits {
  /** Number of lines of the result before this output. */
  readonly offset: number;
  /** Results up to this place are not pointed at: their file has changed since. */
  readonly afterSeq: number;
  /** True to replace only an output that stands elsewhere as a whole. */
  readonly isWhole: boolean;
}

/** Lines that stand verbatim in an earlier result, each run replaced by a pointer to it. */
export function cutRepeatedLines(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  shownLines: ShownLines,
  { offset, afterSeq, isWhole }: RepeatLimits,
): readonly LineCut[] {
  const cuts: LineCut[] = [];
  const labeled = new Set<ShownResult>();
  for (const segment of findRuns(lines, isFree, isWhole ? lines.length : 1)) {
    for (let from = segment.from; from <= segment.to; ) {
      const match = shownLines.findLongest(lines, from, segment.to, afterSeq);
      // The first pointer to a result describes it; the others only cite it.
      const cut = match && buildCut(from, match, offset, !labeled.has(match.shown));
      const isWorth = cut && countSavedCharacters(lines, cut) >= MIN_SAVED_CHARACTERS;
      if (cut && isWorth && (!isWhole || cut.to - cut.from + 1 === lines.length)) {
        cuts.push(cut);
        labeled.add(match.shown);
      }
      if (isWhole) break;
      from = cut && isWorth ? cut.to + 1 : from + 1;
    }
  }
  return cuts;
}

function buildCut(
  from: number,
  { shown, line, count }: LineMatch,
  offset: number,
  isLabeled: boolean,
): LineCut {
  const to = from + count - 1;
  const { cite, result, label } = shown;
  const pointer = { from: from + offset, to: to + offset, cite, result, line };
  return { from, to, lines: [formatPointer(pointer, isLabeled ? label : "")] };
}
