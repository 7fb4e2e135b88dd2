import { countSavedCharacters, findRuns, type LineCut } from "./line-cut.ts";
import { compareLines, type OutputLines } from "./output-lines.ts";
import { formatPointer, type Pointer } from "./pointer.ts";
import type { LineMatch, ShownLines, ShownText } from "./shown-lines.ts";

/**
 * Characters that a pointer must save; below that, it costs the reader more than it saves. Lines that do not stand under
 * the same numbers are often only alike.
 */
const MIN_SAVED_CHARACTERS = 80;
const MIN_REREAD_CHARACTERS = 60;

/** The output in which repeated lines are sought. */
interface RepeatingOutput {
  readonly output: OutputLines;
  /** Number of lines of the result before this output. */
  readonly offset: number;
  /** True if the result has no other text, so that a number of a line names one line. */
  readonly isOneText: boolean;
}

/** Lines that a result after the place `afterSeq` shows, each run of them replaced by a pointer to it. */
export function cutRepeatedLines(
  from: RepeatingOutput,
  isFree: (index: number) => boolean,
  shownLines: ShownLines,
  afterSeq: number,
): readonly LineCut[] {
  const { lines } = from.output;
  const cuts: LineCut[] = [];
  const labeled = new Set<ShownText>();
  for (const segment of findRuns(lines, isFree, 1)) {
    let next = segment.from;
    for (let at = segment.from; at <= segment.to; ) {
      const found = shownLines.findLongest(from.output, at, segment.to, afterSeq);
      const match = found && extendBack(found, from.output, at, next);
      const first = at - (match && found ? match.count - found.count : 0);
      // The first pointer to a result describes it; the others only cite it.
      const cut = match && buildCut(from, first, match, !labeled.has(match.shown));
      const least = match?.shift === 0 ? MIN_REREAD_CHARACTERS : MIN_SAVED_CHARACTERS;
      if (cut && countSavedCharacters(lines, cut) >= least) {
        cuts.push(cut);
        labeled.add(match.shown);
        at = cut.to + 1;
        next = at;
      } else at++;
    }
  }
  return cuts;
}

/** A match with the short lines before it, at which no search begins. */
function extendBack(match: LineMatch, output: OutputLines, at: number, least: number): LineMatch {
  const { shown, shift } = match;
  let { line, count } = match;
  for (let before = at - 1; before >= least && line > 0; before--) {
    if (compareLines(output, before, shown.output, line - 1) !== shift) break;
    line--;
    count++;
  }
  return { shown, line, count, shift };
}

function buildCut(
  { output, offset, isOneText }: RepeatingOutput,
  from: number,
  { shown, line, count, shift }: LineMatch,
  isLabeled: boolean,
): LineCut | undefined {
  const to = from + count - 1;
  const number = findFirstNumber(output, from, count, isOneText);
  const other = findFirstNumber(shown.output, line, count, shown.isOneText);
  const isNamed = number !== undefined && other !== undefined;
  // Lines that are the same with their numbers can be counted where a number does not tell which line is meant.
  if (!isNamed && shift !== 0) return undefined;
  const isNumbered = isNamed && number > 0;
  const isShownNumbered = isNamed && other > 0;
  // Without numbers, lines of a program's output may differ in their times.
  const isTimed =
    number === 0 &&
    other === 0 &&
    output.lines.slice(from, to + 1).some((text, index) => text !== shown.output.lines[line + index]);
  const pointer: Pointer = {
    from: isNumbered ? number : from + offset,
    to: isNumbered ? number + count - 1 : to + offset,
    isNumbered,
    cite: shown.cite,
    part: shown.part,
    line: isShownNumbered ? other : line,
    isShownNumbered,
    isTimed,
  };
  return { from, to, lines: [formatPointer(pointer, isLabeled ? shown.label : "")] };
}

/**
 * The number before the first of some lines, 0 if it has none; undefined if the numbers do not count up, or if the first one
 * stands before another line too.
 */
function findFirstNumber(
  output: OutputLines,
  from: number,
  count: number,
  isOneText: boolean,
): number | undefined {
  const number = output.numberAt(from);
  if (number === 0) return 0;
  if (!isOneText || output.findNumber(number) !== from) return undefined;
  for (let index = 1; index < count; index++)
    if (output.numberAt(from + index) !== number + index) return undefined;
  return number;
}
