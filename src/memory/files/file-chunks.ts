import type { Chunk } from "../text/chunks.ts";

/** Characters that a chunk should and may at most have, and how much of the one before it repeats. */
const TARGET = 1_000;
const MOST = 1_600;
const OVERLAP = 150;

interface Line {
  readonly from: number;
  /** Without the line's end. */
  readonly text: string;
}

/**
 * Cuts a file into stretches of whole lines that overlap a little. A cut is best before a line at the left margin that
 * follows a blank one, where a definition or a paragraph begins; else before any line at the margin, after a blank
 * line, or wherever the size demands. Of a line that is longer than a chunk, which is data, only the beginning counts.
 */
export function fileChunks(text: string): Chunk[] {
  const lines = linesIn(text);
  const found: Chunk[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = endOf(lines, at);
    const from = lines[overlapped(lines, at)]?.from ?? 0;
    const to = Math.min(lines[end]?.from ?? text.length, from + MOST + OVERLAP);
    if (text.slice(from, to).trim() !== "") found.push({ from, to });
    at = end;
  }
  return found;
}

/** The numbers, from 1 on, of the first and last line of a stretch. */
export function lineNumbers(text: string, { from, to }: Chunk): { first: number; last: number } {
  let first = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < from; at = text.indexOf("\n", at + 1)) first++;
  let last = first;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to - 1; at = text.indexOf("\n", at + 1)) last++;
  return { first, last };
}

function linesIn(text: string): Line[] {
  const lines: Line[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    lines.push({ from, text: text.slice(from, to) });
    from = to + 1;
  }
  return lines;
}

function endOf(lines: readonly Line[], start: number): number {
  const { from } = lines[start] as Line;
  let best = 0;
  let bestWorth = 0;
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] as Line;
    const size = line.from - from;
    const worth = breakWorth(lines, at) - Math.abs(size - TARGET) / TARGET;
    if (size >= TARGET / 2 && (best === 0 || worth > bestWorth)) [best, bestWorth] = [at, worth];
    if (size + line.text.length > MOST) return best || at;
  }
  return lines.length;
}

/** How good a place before a line is for a cut. */
function breakWorth(lines: readonly Line[], at: number): number {
  const isAfterBlank = (lines[at - 1]?.text ?? "").trim() === "";
  const isAtMargin = /^[^\s})\]]/.test(lines[at]?.text ?? "");
  return (isAfterBlank ? 0.6 : 0) + (isAtMargin ? 0.6 : 0);
}

/** Goes back over a few lines that end the chunk before, unless a definition begins here. */
function overlapped(lines: readonly Line[], at: number): number {
  if (at === 0 || breakWorth(lines, at) > 1) return at;
  let start = at;
  while (start > 0 && (lines[at] as Line).from - (lines[start - 1] as Line).from <= OVERLAP) start--;
  return start;
}
