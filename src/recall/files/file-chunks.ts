import type { Chunk } from "../text/split-text.ts";

/** Target and maximum characters of a chunk, and the overlap with the previous one. */
const TARGET_CHARACTERS = 1_000;
const MAX_CHARACTERS = 1_600;
const OVERLAP_CHARACTERS = 150;

interface Line {
  readonly from: number;
  /** The line without its line ending. */
  readonly text: string;
}

/**
 * Splits a file into slightly overlapping stretches of whole lines. The best place for a split is before a line at the
 * left margin that follows a blank one, where a definition or paragraph begins; then before any line at the margin, or
 * after a blank line; otherwise wherever the size requires it. Of a line longer than a chunk, which is data, only the
 * beginning is indexed.
 */
export function splitFile(text: string): Chunk[] {
  const lines = splitLines(text);
  const found: Chunk[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = findChunkEnd(lines, at);
    const from = lines[findOverlapStart(lines, at)]?.from ?? 0;
    const to = Math.min(lines[end]?.from ?? text.length, from + MAX_CHARACTERS + OVERLAP_CHARACTERS);
    if (text.slice(from, to).trim() !== "") found.push({ from, to });
    at = end;
  }
  return found;
}

/** The first and last line number of a stretch, counted from 1. */
export function findLineNumbers(text: string, { from, to }: Chunk): { first: number; last: number } {
  let first = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < from; at = text.indexOf("\n", at + 1)) first++;
  let last = first;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to - 1; at = text.indexOf("\n", at + 1)) last++;
  return { first, last };
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    lines.push({ from, text: text.slice(from, to) });
    from = to + 1;
  }
  return lines;
}

function findChunkEnd(lines: readonly Line[], start: number): number {
  const { from } = lines[start] as Line;
  let best = 0;
  let bestWorth = 0;
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] as Line;
    const size = line.from - from;
    const worth = scoreBreak(lines, at) - Math.abs(size - TARGET_CHARACTERS) / TARGET_CHARACTERS;
    if (size >= TARGET_CHARACTERS / 2 && (best === 0 || worth > bestWorth)) [best, bestWorth] = [at, worth];
    if (size + line.text.length > MAX_CHARACTERS) return best || at;
  }
  return lines.length;
}

/** Quality of a split before a line. */
function scoreBreak(lines: readonly Line[], at: number): number {
  const isAfterBlank = (lines[at - 1]?.text ?? "").trim() === "";
  const isAtMargin = /^[^\s})\]]/.test(lines[at]?.text ?? "");
  return (isAfterBlank ? 0.6 : 0) + (isAtMargin ? 0.6 : 0);
}

/** Goes back over a few lines of the previous chunk, unless a definition begins here. */
function findOverlapStart(lines: readonly Line[], at: number): number {
  if (at === 0 || scoreBreak(lines, at) > 1) return at;
  let start = at;
  while (start > 0 && (lines[at] as Line).from - (lines[start - 1] as Line).from <= OVERLAP_CHARACTERS)
    start--;
  return start;
}
