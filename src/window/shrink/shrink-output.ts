import { cutLikeLines } from "./like-lines.ts";
import { applyCuts, countSavedCharacters, type LineCut } from "./line-cut.ts";
import { cutPassingTests } from "./passing-tests.ts";
import { cutRepeatedLines } from "./repeated-lines.ts";
import { cutSearchPaths } from "./search-paths.ts";
import type { ShownLines } from "./shown-lines.ts";
import type { ShrinkFilter } from "./shrink-filters.ts";
import { stripTerminalCodes } from "./terminal-codes.ts";

/** Facts about the output to shorten. */
interface OutputFacts {
  readonly filters: ReadonlySet<ShrinkFilter>;
  readonly shownLines: ShownLines;
  /** Citation of the entry that the output belongs to. */
  readonly cite: string;
  /** True for the contents of a file, which only pointers shorten. */
  readonly isFile: boolean;
  /** Results up to this place are not pointed at. */
  readonly afterSeq: number;
  /** Number of lines of the result before this output. */
  readonly offset: number;
  /** True for a line that has to stay. */
  readonly isKept: (line: string) => boolean;
}

/** Lines that show a number as tools for reading files write it, padded to one width. */
const NUMBERED = /^ +\d+[→\t]/;
const ANY_NUMBERED = /^ *\d+[→\t]/;
const MIN_NUMBERED_SHARE = 0.8;

/** An output's lines one by one in their shortest equal form; their number does not change. */
export function normalizeLines(
  text: string,
  isFile: boolean,
  filters: ReadonlySet<ShrinkFilter>,
): readonly string[] {
  const lines = text.split("\n");
  const plain =
    !isFile && filters.has("terminal") && (text.includes("\u001b") || text.includes("\r"))
      ? lines.map(stripTerminalCodes)
      : lines;
  if (!filters.has("padding") || (!text.includes("→") && !text.includes("\t"))) return plain;
  const numbered = plain.filter((line) => ANY_NUMBERED.test(line)).length;
  if (numbered < plain.length * MIN_NUMBERED_SHARE) return plain;
  return plain.map((line) => (NUMBERED.test(line) ? line.trimStart() : line));
}

/** The lines of an output after all filters. */
export function shrinkLines(lines: readonly string[], facts: OutputFacts): readonly string[] {
  const { filters, isFile, shownLines, afterSeq, offset, isKept, cite } = facts;
  const isFree = lines.map((line) => !isKept(line));
  const cuts: LineCut[] = [];
  const run = (filter: ShrinkFilter, find: (isIn: (index: number) => boolean) => readonly LineCut[]) => {
    if (!filters.has(filter)) return;
    for (const cut of find((index) => isFree[index] === true)) {
      if (countSavedCharacters(lines, cut) <= 0) continue;
      cuts.push(cut);
      isFree.fill(false, cut.from, cut.to + 1);
    }
  };
  const limits = { offset, afterSeq };
  run("same", (isIn) => cutRepeatedLines(lines, isIn, shownLines, { ...limits, isWhole: true }));
  run("repeats", (isIn) => cutRepeatedLines(lines, isIn, shownLines, { ...limits, isWhole: false }));
  if (!isFile) {
    run("tests", (isIn) => cutPassingTests(lines, isIn, cite));
    run("runs", (isIn) => cutLikeLines(lines, isIn, cite));
    run("paths", (isIn) => cutSearchPaths(lines, isIn));
  }
  return applyCuts(
    lines,
    cuts.sort((one, other) => one.from - other.from),
  );
}
