import { findRuns, type LineCut } from "./line-cut.ts";

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
/** Lines that report a failure, an error or a warning, or name the place of one in a file. */
const FAILING =
  /fail|error|warn|panic|fatal|exception|traceback|\bERR\b|[✗✘×❌]|^\s*(?:at |-->|not ok\b)|(?:^|\s)\S{0,200}?\.\w{1,8}[:(]\d+[:,)]/i;

/** Programs that show content on request; other programs report their work. */
const SHOWING =
  /^(?:(?:cat|bat|less|more|head|tail|sed|awk|cut|nl|jq|yq|grep|egrep|rg|ag|ack|find|fd|ls|tree|wc|sort|uniq|column|echo|printf|cd|gh|curl|wget|diff|env|which|pwd|stat|file|type)\b|git\s+(?:-\S+\s+\S+\s+)*(?:diff|show|log|status|blame|grep|ls-files|branch)\b)/;

/** True for a command that runs a program for its work, such as tests, a build or a linter. */
export function isRunningCommand(command: string): boolean {
  return command.split(/&&|\|\||[;|\n]/).some((step) => {
    const words = step.trim();
    return words !== "" && !SHOWING.test(words);
  });
}

/** True for a line of such a program that reports a failure. */
export function isFailing(line: string): boolean {
  return FAILING.test(line) && !PASSES.some((pattern) => pattern.test(line));
}

/** Runs of equal lines, and of progress reports that differ only in their numbers; the ends of a run stay. */
export function cutLikeLines(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  describe: (from: number, to: number) => string,
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
    return inner - from < 1 ? [] : [{ from, to: inner, lines: [describe(from, inner)] }];
  });
}

/** Runs of lines about tests that passed. A test that failed keeps every line that names it. */
export function cutPassingTests(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  describe: (from: number, to: number) => string,
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
    ({ from, to }) => ({ from, to, lines: [describe(from, to)] }),
  );
}
