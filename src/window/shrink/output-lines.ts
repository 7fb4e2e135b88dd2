/** Longer numbers before a line are data. */
const MAX_DIGITS = 7;
const ZERO = 48;
const NINE = 57;
const SPACE = 32;
const TAB = 9;
const COLON = 58;
const ARROW = "→".charCodeAt(0);

/** Times of day, dates and durations in the output of a program. */
const TIMES =
  /\b(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\b|\b\d+(?:\.\d+)? ?(?:ms|µs|ns|s|m\d+(?:\.\d+)?s|seconds?)\b/g;

/** The number of a line in its file, as a tool puts it before the line, and the mark after it. */
interface LineNumber {
  readonly number: number;
  /** Index of the mark between the number and the text of the line. */
  readonly mark: number;
}

/**
 * The lines of a tool's output, and apart from them the numbers that a tool for reading files puts before its lines, so
 * that a line is recognized where it has moved in its file.
 */
export class OutputLines {
  readonly lines: readonly string[];
  /** The lines without their numbers. */
  readonly bodies: readonly string[];
  /** The number of each line, 0 where there is none; undefined if no line has one. */
  readonly numbers: readonly number[] | undefined;

  /** `isRun` is true for the report of a program: times and durations do not tell its lines apart. */
  constructor(lines: readonly string[], isRun = false) {
    this.lines = lines;
    let numbers: number[] | undefined;
    let bodies: string[] | undefined;
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] as string;
      const found = readLineNumber(line);
      // The filter for numbers leaves the mark of a line whose number follows from the line before it.
      const before = numbers?.[index - 1] ?? 0;
      const number = found?.number ?? (before > 0 && line.charCodeAt(0) === ARROW ? before + 1 : 0);
      if (number === 0) {
        bodies?.push(line);
        numbers?.push(0);
        continue;
      }
      bodies ??= lines.slice(0, index);
      numbers ??= new Array<number>(index).fill(0);
      bodies.push(line.slice((found?.mark ?? 0) + 1));
      numbers.push(number);
    }
    this.numbers = numbers;
    this.bodies = bodies ?? (isRun ? lines.map((line) => line.replace(TIMES, "0s")) : lines);
  }

  /** The number of a line; 0 if it has none. */
  numberAt(index: number): number {
    return this.numbers?.[index] ?? 0;
  }

  /** The character between the number of a line and its text. */
  markAt(index: number): number {
    const line = this.lines[index] as string;
    return line.charCodeAt(readLineNumber(line)?.mark ?? 0);
  }

  /** Index of the first line with a number; -1 if there is none. */
  findNumber(number: number): number {
    return this.numbers?.indexOf(number) ?? -1;
  }
}

/** The number before a line, as in "  12→text", "12\ttext" or "12: text"; a time of day is none. */
export function readLineNumber(line: string): LineNumber | undefined {
  let at = 0;
  while (line.charCodeAt(at) === SPACE) at++;
  const first = at;
  let number = 0;
  for (let code = line.charCodeAt(at); isDigit(code); code = line.charCodeAt(++at)) {
    if (at - first >= MAX_DIGITS) return undefined;
    number = number * 10 + code - ZERO;
  }
  if (at === first || number === 0) return undefined;
  const mark = line.charCodeAt(at);
  const isMark = mark === ARROW || mark === TAB || (mark === COLON && !isDigit(line.charCodeAt(at + 1)));
  return isMark ? { number, mark: at } : undefined;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Of the lines in a row, those whose number is a multiple of this one keep it. */
const NUMBERED_LINES = 10;

/**
 * Lines without the numbers that follow from the line before them; the mark after the number stays. Only for numbers that
 * stand before an arrow, which no tool takes as an argument.
 */
export function thinNumbers(lines: readonly string[]): readonly string[] {
  let before = 0;
  return lines.map((line) => {
    const found = readLineNumber(line);
    if (!found || line.charCodeAt(found.mark) !== ARROW) {
      before = 0;
      return line;
    }
    const isNext = found.number === before + 1 && before > 0;
    before = found.number;
    return isNext && found.number % NUMBERED_LINES !== 0 ? line.slice(found.mark) : line;
  });
}

/**
 * How a line differs from an equal line shown elsewhere: the distance of their numbers, or one of the two constants. A
 * run of lines has one difference for all of them.
 */
export type LineShift = number;

/** Neither line has a number. The lines of a program's output may differ in their times. */
export const NO_NUMBERS: LineShift = Number.POSITIVE_INFINITY;
/** Only the line shown elsewhere has a number. */
export const SHOWN_NUMBERS: LineShift = Number.NEGATIVE_INFINITY;
/** Only this line has a number: a run of them counts up; added to the distance between its number and its place. */
export const OWN_NUMBERS: LineShift = 1e9;

/** The difference of two lines; undefined if their texts differ. */
export function compareLines(
  said: OutputLines,
  index: number,
  shown: OutputLines,
  line: number,
): LineShift | undefined {
  const body = said.bodies[index];
  if (body === undefined || body !== shown.bodies[line]) return undefined;
  const number = said.numberAt(index);
  const other = shown.numberAt(line);
  if (number === 0 && other === 0) return NO_NUMBERS;
  if (number === 0) return said.lines[index] === body ? SHOWN_NUMBERS : undefined;
  if (other === 0) return shown.lines[line] === body ? OWN_NUMBERS + number - index : undefined;
  return said.markAt(index) === shown.markAt(line) ? number - other : undefined;
}
