import { cutJsonMembers } from "./json-members.ts";
import { applyCuts, countSavedCharacters, formatLines, type LineCut } from "./line-cut.ts";
import { OutputLines, thinNumbers } from "./output-lines.ts";
import { formatLeftOut } from "./pointer.ts";
import { cutLikeLines, cutPassingTests, isFailing } from "./program-output.ts";
import { cutRepeatedLines } from "./repeated-lines.ts";
import { cutSearch } from "./search-hits.ts";
import type { ShownLines } from "./shown-lines.ts";
import type { ShrinkFilter } from "./shrink-filters.ts";

/** Colors, cursor movements, titles and other control sequences of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Facts about the output to shorten. */
interface OutputFacts {
  readonly filters: ReadonlySet<ShrinkFilter>;
  readonly shownLines: ShownLines;
  /** Citation of the entry that the output belongs to. */
  readonly cite: string;
  /** True for the contents of a file. Only lines that the window shows elsewhere are left out of it. */
  readonly isFile: boolean;
  /** Number of lines of the result before this output. */
  readonly offset: number;
  /** True if the result has no other text. */
  readonly isOneText: boolean;
  /** Place of the newest question, and whether it asks for this output or for one of its lines. */
  readonly askedSeq: number;
  readonly isAsked: boolean;
  readonly isNamed: (line: string) => boolean;
  /** True for the report of a program such as a test runner, which keeps every line about a failure. */
  readonly isRun: boolean;
  /** False if nothing may be left out that does not stand elsewhere. */
  readonly isCuttable: boolean;
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
  const { filters, isFile, shownLines, offset, isOneText, askedSeq, isAsked, isNamed, isRun, cite } = facts;
  const isFree = lines.map((line) => !isRun || !isFailing(line));
  const cuts: LineCut[] = [];
  const add = (cut: LineCut) => {
    cuts.push(cut);
    isFree.fill(false, cut.from, cut.to + 1);
  };
  const run = (
    filter: ShrinkFilter,
    find: (isIn: (index: number) => boolean) => readonly LineCut[],
    isHeld: (index: number) => boolean,
  ) => {
    if (!filters.has(filter)) return;
    for (const cut of find((index) => isFree[index] === true && !isHeld(index)))
      if (countSavedCharacters(lines, cut) > 0) add(cut);
  };
  const output = { output: new OutputLines(lines, isRun), offset, isOneText };
  const named = lines.map((line) => isAsked || isNamed(line));
  const isHeld = (index: number) => named[index] === true;
  // Content that the newest question asks for may point at results since the question.
  if (named.includes(true))
    run(
      "repeats",
      (isIn) => cutRepeatedLines(output, isIn, shownLines, askedSeq),
      () => false,
    );
  if (!isAsked) run("repeats", (isIn) => cutRepeatedLines(output, isIn, shownLines, 0), isHeld);
  if (!isFile) {
    const isCuttable = facts.isCuttable && !isAsked;
    const leftOut = (why: string) => (from: number, to: number) =>
      formatLeftOut(`Lines ${formatLines(from, to)}`, why, cite);
    if (isCuttable) {
      run("tests", (isIn) => cutPassingTests(lines, isIn, leftOut("tests that passed")), isHeld);
      run(
        "runs",
        (isIn) => cutLikeLines(lines, isIn, leftOut("progress like the lines around them")),
        isHeld,
      );
      const describe = (count: number) =>
        formatLeftOut(`${count} members`, "without a value, opaque ids and API addresses", cite);
      run("json", (isIn) => cutJsonMembers(lines, isIn, describe), isHeld);
    }
    const isSearchCut = isCuttable && filters.has("context") && !named.includes(true);
    const describeLeftOut = (count: number) =>
      formatLeftOut(`${count} lines around hits`, "from here on only the hits stand", cite);
    for (const cut of cutSearch(lines, (index) => isFree[index] === true, {
      isGrouping: filters.has("paths"),
      describeLeftOut: isSearchCut ? describeLeftOut : undefined,
    }))
      add(cut);
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
