import { findRuns, formatLines, type LineCut } from "./line-cut.ts";

const MIN_LINES = 4;

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
  return findRuns(lines, (index) => isFree(index) && isPass(lines[index] as string), MIN_LINES).map(
    ({ from, to }) => ({
      from,
      to,
      lines: [`[Lines ${formatLines(from, to)} left out: tests that passed; to see them: expand ${cite}]`],
    }),
  );
}
