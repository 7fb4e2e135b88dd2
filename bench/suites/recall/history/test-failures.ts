/** A test that failed, with the line that says why. */
export interface TestFailure {
  readonly name: string;
  readonly error: string;
}

/** A failed test in the output of the usual runners: Go, pytest, Rust, TAP, and those of JavaScript. */
const FAILED_TESTS: readonly RegExp[] = [
  /^\s*--- FAIL: (\S+)/,
  /^FAILED (\S+)/,
  /^test (\S+) \.\.\. FAILED$/,
  /^\s*not ok \d+ -? ?(.+)$/,
  /^\s*\(fail\) (.+?)(?:\s+\[\d[\d.]*\s*m?s\])?$/,
  /^\s*[✗✘×✖] (.+?)\s+\(?\d[\d.]*\s*m?s\)?$/,
  /^\s*FAIL\s+(\S.* > .+?)(?:\s+\d[\d.]*\s*m?s)?$/,
];
const PASSED =
  /^(?:ok\s+\S+|PASS$|\s*--- PASS|\s*\(pass\)|\s*[✓✔]|ok \d+|test \S+ \.\.\. ok$)|\b\d+ pass(?:ed|ing)?\b/m;
const ERROR =
  /\b(?:error|expected|assert\w*|want(?:ed)?|got|panic|undefined|cannot|exception|should|failed|missing|invalid)\b/i;
/** Position of the error in a file, which is no part of it. */
const POSITION = /^[\s│|>E]*(?:\S+\.\w+:\d+(?::\d+)?:?\s*)?/;
/** Bun prints the error before the name of the test. */
const AFTER_ERROR = /^\s*\(fail\)/;
const MAX_LINES = 12;
const MAX_ERROR_CHARACTERS = 160;

/** The failed tests that the output of a command reports, each once. */
export function parseTestFailures(output: string): readonly TestFailure[] {
  const lines = output.split("\n");
  const found = new Map<string, TestFailure>();
  for (const [index, line] of lines.entries()) {
    const name = FAILED_TESTS.map((pattern) => pattern.exec(line)?.[1]).find((match) => match !== undefined);
    if (name === undefined || found.has(name)) continue;
    const around = AFTER_ERROR.test(line)
      ? lines.slice(Math.max(0, index - MAX_LINES), index).reverse()
      : [line.split(" - ")[1] ?? "", ...lines.slice(index + 1, index + 1 + MAX_LINES)];
    const error = around.find((one) => ERROR.test(one) && !FAILED_TESTS.some((pattern) => pattern.test(one)));
    if (error === undefined) continue;
    found.set(name, { name, error: error.replace(POSITION, "").trim().slice(0, MAX_ERROR_CHARACTERS) });
  }
  return [...found.values()];
}

/** True if the output of a command reports tests that passed. */
export function hasPassedTests(output: string): boolean {
  return PASSED.test(output);
}
