import { MAX_LINE, MAX_TROUBLES, type WorkStep } from "./work-steps.ts";

/** A line of an error, ready to be compared. */
export interface Trouble {
  readonly line: string;
  readonly plain: string;
  readonly words: readonly string[];
}

export function readTrouble(line: string): Trouble {
  const plain = normalizeTrouble(line);
  return { line, plain, words: listPlainWords(plain) };
}

/** A line of an error without the parts that differ from run to run: colors, numbers, addresses, folders of paths. */
function normalizeTrouble(line: string): string {
  return (
    line
      // biome-ignore lint/suspicious/noControlCharactersInRegex: color codes start with the escape character
      .replace(/\x1b\[[0-9;]*m/g, "")
      .toLowerCase()
      .replace(/0x[0-9a-f]+|\b[0-9a-f]{8,}\b/g, "#")
      .replace(/(?:[\w.@~-]*\/)+(?=[\w.@-])/g, "")
      .replace(/\d+/g, "#")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, MAX_LINE)
  );
}

export function listPlainWords(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [])];
}

/** Rare words weigh more. */
export function weighWords(texts: readonly (readonly string[])[]): (word: string) => number {
  const counts = new Map<string, number>();
  for (const words of texts) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (word) => Math.log(1 + (texts.length + 1) / ((counts.get(word) ?? 0) + 0.5));
}

/** Shorter lines, such as "FAIL", are part of many others. */
const MIN_PART = 16;
const MIN_MATCH = 0.6;

/**
 * How well a printed line matches one of those asked for: 1 for the same line, less for one with other numbers, less for
 * one that contains it, else the share of weight that they have in common; 0 below the least share.
 */
export function matchTrouble(
  asked: readonly Trouble[],
  { line, plain, words }: Trouble,
  weigh: (word: string) => number,
): number {
  const sum = (own: readonly string[]) => own.reduce((total, word) => total + weigh(word), 0);
  const matches = asked.map((one) => {
    if (one.line === line) return 1;
    if (one.plain === plain) return 0.99;
    if (one.plain.length >= MIN_PART && plain.includes(one.plain)) return 0.98;
    const common = words.filter((word) => one.words.includes(word));
    if (3 * common.length < one.words.length) return 0;
    const either = sum(one.words) + sum(words) - sum(common);
    return either > 0 ? (0.97 * sum(common)) / either : 0;
  });
  const best = Math.max(0, ...matches);
  return best >= MIN_MATCH ? best : 0;
}

const NO_EDIT = 0.9;
const MAX_STEPS_TO_FIX = 60;
/** Programs that show text; a line in their output is not an error of theirs. */
const SHOWING = /^(?:grep|rg|cat|sed|awk|ls|find|git|head|tail|gh|echo|less|wc|diff|curl)\b/;
/** Commands that change nothing an error depends on. */
const IDLE =
  /^(?:grep|rg|cat|sed -n|ls|find|head|tail|wc|git (?:status|diff|log|show|add|commit|push|stash)|gh |echo|pwd|which)\b/;

/** The work after which an error did not come back. */
interface Ending {
  /** How well the error matches; work without an edit counts less, because it often only looks on. */
  readonly score: number;
  /** The edits, or else the commands: those of files that the error names before others, the last first. */
  readonly steps: readonly WorkStep[];
  /** The run of the same program without the error. */
  readonly confirmed: WorkStep;
  /** True if a later run had the error again: the work is where to look, but it has not ended the error. */
  readonly hasReturned: boolean;
}

/** The work after an error of a step up to the next run of the same program that no longer prints it. */
export function findEnding(
  steps: readonly WorkStep[],
  step: WorkStep,
  { line, plain }: Trouble,
  match: number,
): Ending | undefined {
  const program = nameProgram(step.key);
  if (SHOWING.test(program)) return undefined;
  const place = steps.indexOf(step) + 1;
  const later = steps.slice(place, place + MAX_STEPS_TO_FIX);
  const hasIt = ({ troubles }: WorkStep) => troubles.some((other) => normalizeTrouble(other) === plain);
  const isRun = ({ kind, key }: WorkStep) => kind === "command" && nameProgram(key) === program;
  // An output with more trouble than is kept may still have the error.
  const end = later.findIndex((run) => isRun(run) && run.troubles.length < MAX_TROUBLES && !hasIt(run));
  const confirmed = later[end];
  if (!confirmed) return undefined;
  const hasReturned = later.slice(end).some((run) => isRun(run) && hasIt(run));
  const between = later.slice(0, end).filter(({ isFailed }) => !isFailed);
  const edits = between.filter(({ kind }) => kind === "edit");
  const commands = between.filter(({ key }) => nameProgram(key) !== program && !IDLE.test(key));
  // If nothing else was done, the other arguments made the difference.
  const rerun = confirmed.key === step.key ? [] : [confirmed];
  const own = [edits, commands, rerun].find(({ length }) => length > 0)?.toReversed();
  if (!own) return undefined;
  const isNamed = ({ paths }: WorkStep) =>
    paths.some((path) => line.includes(path.slice(path.lastIndexOf("/") + 1)));
  const ordered = [...own.filter(isNamed), ...own.filter((one) => !isNamed(one))];
  return { score: edits.length > 0 ? match : NO_EDIT * match, steps: ordered, confirmed, hasReturned };
}

/** The program of a command line with its first argument: "npm test", "go vet". */
export function nameProgram(command: string): string {
  const own = command
    .replace(/^(?:\s*cd\s+\S+\s*(?:&&|;)\s*)+/, "")
    .replace(/^(?:\w+=\S*\s+)+/, "")
    .trim();
  return own.split(/\s+/).slice(0, 2).join(" ");
}
