import { formatLines } from "./line-cut.ts";

/** Lines of an output that stand verbatim in an earlier result of the same window; lines count from 0. */
export interface Pointer {
  /** The lines left out, in the output before it was shortened. */
  readonly from: number;
  readonly to: number;
  /** Citation of the entry that shows them, and the result inside it, from 0. */
  readonly cite: string;
  readonly result: number;
  /** The first of the lines in that result, as it is shown. */
  readonly line: number;
}

const POINTER =
  /^\[Lines (\d+)(?:-(\d+))? left out: the same as lines? (\d+)(?:-\d+)? of (\S*#\d+)(?: result (\d+))?(?: \(.*\))?\]$/;
const START = "[Lines ";

/** The line that stands for the lines left out; `label` describes the call of the earlier result. */
export function formatPointer({ from, to, cite, result, line }: Pointer, label: string): string {
  const place = result === 0 ? cite : `${cite} result ${result + 1}`;
  const words = from === to ? "line" : "lines";
  const shown = formatLines(line, line + to - from);
  const called = label === "" ? "" : ` (${label})`;
  return `${START}${formatLines(from, to)} left out: the same as ${words} ${shown} of ${place}${called}]`;
}

/** The pointer that a line is; undefined for other lines. */
export function parsePointer(line: string): Pointer | undefined {
  if (!line.startsWith(START)) return undefined;
  const match = POINTER.exec(line);
  if (!match) return undefined;
  const from = Number(match[1]) - 1;
  return {
    from,
    to: match[2] === undefined ? from : Number(match[2]) - 1,
    line: Number(match[3]) - 1,
    cite: match[4] as string,
    result: match[5] === undefined ? 0 : Number(match[5]) - 1,
  };
}
