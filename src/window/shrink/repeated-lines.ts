import { countSavedCharacters, findRuns, type LineCut } from "./line-cut.ts";
import { compareLines, NO_NUMBERS, type OutputLines, SHOWN_NUMBERS } from "./output-lines.ts";
import { formatPointer, type Pointer } from "./pointer.ts";
import type { LineMatch, ShownLines, ShownResult } from "./shown-lines.ts";

/** Characters that a pointer must save; below that, it costs the reader more than it saves. */
const MIN_SAVED_CHARACTERS = 100;

/** The output in which repeated lines are sought. */
export interface RepeatingOutput {
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
  const labeled = new Set<ShownResult>();
  for (const segment of findRuns(lines, isFree, 1)) {
    let next = segment.from;
    for (let at = segment.from; at <= segment.to; ) {
      const found = shownLines.findLongest(from.output, at, segment.to, afterSeq);
      const match = found && extendBack(found, from.output, at, next);
      const first = at - (match && found ? match.count - found.count : 0);
      // The first pointer to a result describes it; the others only cite it.
      const cut = match && buildCut(from, first, match, !labeled.has(match.shown));
      if (cut && countSavedCharacters(lines, cut) >= MIN_SAVED_CHARACTERS) {
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
  const { cite, result, label } = shown;
  const place = { cite, result };
  const number = findOwnNumber(output, from, isOneText);
  const other = findOwnNumber(shown.output, line, shown.isOneText);
  const pointer: Pointer | undefined =
    shift === NO_NUMBERS || (shift === 0 && (number === undefined || other === undefined))
      ? { ...place, from: from + offset, to: to + offset, line, isNumbered: false, isShownNumbered: false }
      : shift === SHOWN_NUMBERS
        ? other === undefined
          ? undefined
          : { ...place, from: from + offset, to: to + offset, line: other, isNumbered: false, isShownNumbered: true }
        : number === undefined || other === undefined
          ? undefined
          : { ...place, from: number, to: number + count - 1, line: other, isNumbered: true, isShownNumbered: true };
  return pointer && { from, to, lines: [formatPointer(pointer, isLabeled ? label : "")] };
}

/** The number that stands before a line, if no other line of the result has it. */
function findOwnNumber(output: OutputLines, index: number, isOneText: boolean): number | undefined {
  const number = output.numberAt(index);
  return isOneText && number > 0 && output.findNumber(number) === index ? number : undefined;
}
