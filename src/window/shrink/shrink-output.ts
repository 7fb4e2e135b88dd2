import { applyCuts, countSavedCharacters, findRuns, type LineCut } from "./line-cut.ts";
import { OutputLines, thinNumbers } from "./output-lines.ts";
import { formatLeftOut } from "./pointer.ts";
import { cutRepeatedLines } from "./repeated-lines.ts";
import { cutSearchPaths } from "./search-hits.ts";
import type { ShownLines } from "./shown-lines.ts";
import type { ShrinkFilter } from "./shrink-filters.ts";

/** Colors, cursor movements, titles and other control sequences of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

const MIN_LIKE_LINES = 4;

const NUMBERS = /\d+(?:[.,:]\d+)*/g;
/** Marks of a line that reports progress; other lines that differ in their numbers may be data. */
const PROGRESS = /\d\s?%|\b\d+\s?(?:\/|of)\s?\d+\b|\b\d+(?:\.\d+)?\s?[kMG]i?B\b/;

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
  /** True for the contents of a file, of which no line is left out that does not stand elsewhere. */
  readonly isFile: boolean;
  /** Number of lines of the result before this output. */
  readonly offset: number;
  /** True if the result has no other text. */
  readonly isOneText: boolean;
  /** Place of the newest question, and whether it asks for this output or for one of its lines. */
  readonly askedSeq: number;
  readonly isAsked: boolean;
  readonly isNamed: (line: string) => boolean;
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
  const { filters, isFile, shownLines, offset, isOneText, askedSeq, isAsked, isNamed, isKept, cite } = facts;
  const isFree = lines.map((line) => !isKept(line));
  const cuts: LineCut[] = [];
  const run = (
    filter: ShrinkFilter,
    find: (isIn: (index: number) => boolean) => readonly LineCut[],
    isHeld: (index: number) => boolean = () => false,
  ) => {
    if (!filters.has(filter)) return;
    for (const cut of find((index) => isFree[index] === true && !isHeld(index))) {
      if (countSavedCharacters(lines, cut) <= 0) continue;
      cuts.push(cut);
      isFree.fill(false, cut.from, cut.to + 1);
    }
  };
  const output = { output: new OutputLines(lines), offset, isOneText };
  const named = lines.map((line) => isAsked || isNamed(line));
  const isHeld = (index: number) => named[index] === true;
  const isAnyHeld = named.includes(true);
  // What the newest question asks for may point at what the agent has read since.
  if (isAnyHeld) run("repeats", (isIn) => cutRepeatedLines(output, isIn, shownLines, askedSeq));
  if (!isAsked) run("repeats", (isIn) => cutRepeatedLines(output, isIn, shownLines, 0), isHeld);
  if (!isFile) {
    run("tests", (isIn) => cutPassingTests(lines, isIn, cite), isHeld);
    run("runs", (isIn) => cutLikeLines(lines, isIn, cite), isHeld);
    run("paths", (isIn) => cutSearchPaths(lines, isIn));
  }
  const short = applyCuts(
    lines,
    cuts.sort((one, other) => one.from - other.from),
  );
  return filters.has("numbers") ? thinNumbers(short) : short;
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
    const note = formatLeftOut(from, inner, "progress like the lines around them", cite);
    return [{ from, to: inner, lines: [note] }];
  });
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
      lines: [formatLeftOut(from, to, "tests that passed", cite)],
    }),
  );
}
