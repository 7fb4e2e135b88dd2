import { formatLines } from "./line-cut.ts";

/**
 * Lines of an output that stand before it in the same window. Lines are named by their place, which counts from 0, or by
 * the number that a tool for reading files has put before them.
 */
export interface Pointer {
  /** The lines left out, in the output before it was shortened. */
  readonly from: number;
  readonly to: number;
  /** True if `from` and `to` are numbers that stand before the lines. */
  readonly isNumbered: boolean;
  /** Citation of the entry that shows them, and the part of it: "result 1" is its first result, "call 2" its second call. */
  readonly cite: string;
  readonly part: string;
  /** The first of the lines there, as they are shown. */
  readonly line: number;
  /** True if `line` is a number that stands before the line. */
  readonly isShownNumbered: boolean;
  /** True if times and durations in the lines differ. */
  readonly isTimed: boolean;
}

const POINTER =
  /^\[(Lines )?(\d+)(?:-(\d+))? left out: (?:the same as (?:(lines? )?(\d+)(?:-\d+)? )?(?:of|in) )(\S*#\d+)(?: ((?:result|call) \d+))?(, but for times)?(?: \(.*\))?\]$/;
const START = "[";
const ONLY_RESULT = "result 1";

/**
 * The line that stands for the lines left out; `label` describes the call of the earlier result. "Lines 3-9" are counted,
 * a bare "3-9" names the numbers that the output itself shows.
 */
export function formatPointer(pointer: Pointer, label: string): string {
  const { from, to, isNumbered, cite, part, line, isShownNumbered, isTimed } = pointer;
  const place = part === ONLY_RESULT ? cite : `${cite} ${part}`;
  const last = line + to - from;
  const own = isNumbered ? formatRange(from, to) : `Lines ${formatLines(from, to)}`;
  const counted = `${from === to ? "line" : "lines"} ${formatLines(line, last)} of`;
  const numbered = isNumbered && line === from ? "in" : `${formatRange(line, last)} of`;
  const called = label === "" ? "" : ` (${label})`;
  return `[${own} left out: the same as ${isShownNumbered ? numbered : counted} ${place}${isTimed ? ", but for times" : ""}${called}]`;
}

/** The pointer that a line is; undefined for other lines. */
export function parsePointer(line: string): Pointer | undefined {
  const match = line.startsWith(START) ? POINTER.exec(line) : null;
  if (!match) return undefined;
  const isNumbered = match[1] === undefined;
  const isShownNumbered = match[4] === undefined;
  // Only a run of numbered lines stands elsewhere under the same numbers.
  if (match[5] === undefined && !isNumbered) return undefined;
  const first = Number(match[2]);
  const shown = Number(match[5] ?? match[2]);
  const from = isNumbered ? first : first - 1;
  return {
    from,
    to: match[3] === undefined ? from : Number(match[3]) - (isNumbered ? 0 : 1),
    isNumbered,
    line: isShownNumbered ? shown : shown - 1,
    isShownNumbered,
    cite: match[6] as string,
    part: match[7] ?? ONLY_RESULT,
    isTimed: match[8] !== undefined,
  };
}

const WAY = "; whole: expand ";

/** The line that stands for content left out for another reason, which the entry `cite` still holds. */
export function formatLeftOut(what: string, why: string, cite: string): string {
  return `[${what} left out: ${why}${WAY}${cite}]`;
}

/** True if a text has such a line. */
export function hasLeftOut(text: string): boolean {
  return text.includes(WAY);
}

function formatRange(from: number, to: number): string {
  return from === to ? `${from}` : `${from}-${to}`;
}
