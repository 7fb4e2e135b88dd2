import { formatLines } from "./line-cut.ts";

/**
 * Lines of an output that stand in an earlier result of the same window. Lines are named by their place, which counts
 * from 0, or by the number that a tool for reading files has put before them.
 */
export interface Pointer {
  /** The lines left out, in the output before it was shortened. */
  readonly from: number;
  readonly to: number;
  /** True if `from` and `to` are numbers that stand before the lines. */
  readonly isNumbered: boolean;
  /** Citation of the entry that shows them, and the result inside it, from 0. */
  readonly cite: string;
  readonly result: number;
  /** The first of the lines in that result, as it is shown. */
  readonly line: number;
  /** True if `line` is a number that stands before the line. */
  readonly isShownNumbered: boolean;
}

const POINTER =
  /^\[Lines (numbered )?(\d+)(?:-(\d+))? left out: the same as (lines?|text of|those) (?:numbered )?(\d+)(?:-\d+)? of (\S*#\d+)(?: result (\d+))?(?: \(.*\))?\]$/;
const START = "[Lines ";

/** The line that stands for the lines left out; `label` describes the call of the earlier result. */
export function formatPointer(pointer: Pointer, label: string): string {
  const { from, to, isNumbered, cite, result, line, isShownNumbered } = pointer;
  const place = result === 0 ? cite : `${cite} result ${result + 1}`;
  const last = line + to - from;
  const own = isNumbered ? `numbered ${formatRange(from, to)}` : formatLines(from, to);
  const shown = isShownNumbered
    ? `${isNumbered ? "those" : "text of"} numbered ${formatRange(line, last)}`
    : `${from === to ? "line" : "lines"} ${formatLines(line, last)}`;
  const called = label === "" ? "" : ` (${label})`;
  return `${START}${own} left out: the same as ${shown} of ${place}${called}]`;
}

/** The pointer that a line is; undefined for other lines. */
export function parsePointer(line: string): Pointer | undefined {
  if (!line.startsWith(START)) return undefined;
  const match = POINTER.exec(line);
  if (!match) return undefined;
  const isNumbered = match[1] !== undefined;
  const isShownNumbered = !match[4]?.startsWith("line");
  const first = Number(match[2]);
  const shown = Number(match[5]);
  const from = isNumbered ? first : first - 1;
  return {
    from,
    to: match[3] === undefined ? from : Number(match[3]) - (isNumbered ? 0 : 1),
    isNumbered,
    line: isShownNumbered ? shown : shown - 1,
    isShownNumbered,
    cite: match[6] as string,
    result: match[7] === undefined ? 0 : Number(match[7]) - 1,
  };
}

/** The line that stands for lines left out for another reason, which the entry `cite` still holds. */
export function formatLeftOut(from: number, to: number, why: string, cite: string): string {
  return `${START}${formatLines(from, to)} left out: ${why}; whole: expand ${cite}]`;
}

function formatRange(from: number, to: number): string {
  return from === to ? `${from}` : `${from}-${to}`;
}
