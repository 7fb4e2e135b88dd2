import { applyCuts, countSavedCharacters, findRuns, formatLines, type LineCut } from "./line-cut.ts";
import { formatPointer } from "./pointer.ts";
import type { LineMatch, ShownLines, ShownResult } from "./shown-lines.ts";
import type { ShrinkFilter } from "./shrink-filters.ts";

/** Colors, cursor movements, titles and other control sequences of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

const MIN_LIKE_LINES = 4;

const NUMBERS = /\d+(?:[.,:]\d+)*/g;
/** Marks of a line that reports progress; other lines that differ in their numbers may be data. */
const PROGRESS = /\d\s?%|\b\d+\s?(?:\/|of)\s?\d+\b|\b\d+(?:\.\d+)?\s?[kMG]i?B\b/;

/** Characters that a pointer must save; below that, it costs the reader more than it saves. */
const MIN_SAVED_CHARACTERS = 100;

const MIN_SHARED_PATHS = 3;

const MIN_PATH_CHARACTERS = 12;
/** A search hit: a path, then the number of the line, between colons or, for context, dashes. */
const HIT = /^((?:[A-Za-z]:)?[^\s:]{3,300}?)([:-])(\d+)\2/;

const MIN_PASSES = 4;

/** Lines that report a passing test; the name of the test where the runner announces it before its result. */
const PASSES: readonly RegExp[] = [
  /^\s*--- PASS: \S+ \([\d.]+s\)$/,
  /^\s*=== (?:RUN|PAUSE|CONT|NAME)\s+(\S+)$/,
  /^ok\s+\S+\s+(?:[\d.]+s|\(cached\))/,
  /^\?\s+\S+\s+\[no test files\]$/,
  /^\s*[✓✔√]\s+\S/,
  /^\s*(?:PASSED|PASS)\s+\S+$/,
  /^\S+::\S+ PASSED\b/,
  /^test \S+ \.\.\. ok$/,
  /^ok \d+ - \S/,
];
const FAILURE = /\bFAIL(?:ED|URE)?\b|--- FAIL|\bpanic\b|[✗✘×]/;
const NAME = /--- FAIL: (\S+)/g;

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

/** The line as a terminal would show it: without control sequences, and only the last state of a progress display. */
export function stripTerminalCodes(line: string): string {
  const plain = line.includes("\u001b") ? line.replace(CODES, "") : line;
  const end = plain.endsWith("\r") ? plain.length - 1 : plain.length;
  const last = plain.lastIndexOf("\r", end - 1);
  return last < 0 || end === 0 ? plain : plain.slice(last + 1);
}

/** Runs of equal lines, and of progress reports that differ only in their numbers; the ends of a run stay. */
export function cutLikeLines(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  cite: string,
): readonly LineCut[] {
  const shapes = lines.map((line) => (PROGRESS.test(line) ? line.replace(NUMBERS, "0") : line));
  const isLike = (index: number) =>
    isFree(index) && shapes[index] !== "" && shapes[index] === shapes[index - 1] && isFree(index - 1);
  return findRuns(lines, isLike, MIN_LIKE_LINES - 1).flatMap(({ from, to }) => {
    const isSame = lines.slice(from, to + 1).every((line) => line === lines[from - 1]);
    if (isSame) {
      const count = to - from + 1;
      return [{ from, to, lines: [`[The line above stands here ${count} more times]`] }];
    }
    const inner = to - 1;
    if (inner - from < 1) return [];
    const note = `[Lines ${formatLines(from, inner)} left out: progress like the lines around them; to see it: expand ${cite}]`;
    return [{ from, to: inner, lines: [note] }];
  });
}

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

/** Consecutive hits of a search in one file: the path stands once above them instead of before each line. */
export function cutSearchPaths(
  lines: readonly string[],
  isFree: (index: number) => boolean,
): readonly LineCut[] {
  const paths = lines.map((line, index) => (isFree(index) ? HIT.exec(line)?.[1] : undefined));
  const cuts: LineCut[] = [];
  for (const { from, to } of findRuns(lines, (index) => paths[index] !== undefined, MIN_SHARED_PATHS)) {
    for (let first = from; first <= to; ) {
      const path = paths[first] as string;
      let last = first;
      while (last < to && paths[last + 1] === path) last++;
      if (last - first + 1 >= MIN_SHARED_PATHS && path.length >= MIN_PATH_CHARACTERS) {
        const hits = lines.slice(first, last + 1).map((line) => line.slice(path.length + 1));
        cuts.push({ from: first, to: last, lines: [`${path}:`, ...hits] });
      }
      first = last + 1;
    }
  }
  return cuts;
}

/** Runs of lines about tests that passed. A test that failed keeps every line that names it. */
export function cutPassingTests(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  cite: string,
): readonly LineCut[] {
  const failed = new Set<string>();
  for (const line of lines)
    if (FAILURE.test(line)) for (const [, name] of line.matchAll(NAME)) failed.add(name as string);
  const isPass = (line: string) =>
    PASSES.some((pattern) => {
      const match = pattern.exec(line);
      return match !== null && !(match[1] !== undefined && failed.has(match[1]));
    });
  return findRuns(lines, (index) => isFree(index) && isPass(lines[index] as string), MIN_PASSES).map(
    ({ from, to }) => ({
      from,
      to,
      lines: [`[Lines ${formatLines(from, to)} left out: tests that passed; to see them: expand ${cite}]`],
    }),
  );
}
