import { describe, expect, test } from "vitest";
import { applyCuts } from "../../../src/window/shrink/line-cut.ts";
import { formatPointer, parsePointer } from "../../../src/window/shrink/pointer.ts";
import {
  describeCall,
  EditedFiles,
  findAskedLiterals,
  hasLiteral,
} from "../../../src/window/shrink/result-shrinker.ts";
import { ShownLines } from "../../../src/window/shrink/shown-lines.ts";
import { resolveShrinkFilters, SHRINK_FILTERS } from "../../../src/window/shrink/shrink-filters.ts";
import {
  cutLikeLines,
  cutPassingTests,
  cutRepeatedLines,
  cutSearchPaths,
  normalizeLines,
  stripTerminalCodes,
} from "../../../src/window/shrink/shrink-output.ts";

const all = () => true;
const ALL = resolveShrinkFilters(true);

describe("terminal codes", () => {
  test("colors, titles and overwritten progress are removed, and words and line ends stay", () => {
    expect(stripTerminalCodes("\u001b[1;32mok\u001b[0m 3 tests")).toBe("ok 3 tests");
    expect(stripTerminalCodes("\u001b]0;title\u0007done")).toBe("done");
    expect(stripTerminalCodes("10%\r50%\r100% done")).toBe("100% done");
    expect(stripTerminalCodes("a line of a file\r")).toBe("a line of a file\r");
    expect(stripTerminalCodes("\r")).toBe("\r");
    expect(stripTerminalCodes("plain [1m text")).toBe("plain [1m text");
  });

  test("the contents of a file keep their terminal codes", () => {
    const text = "const red = '\u001b[31m';\nconst bar = 'a\rb';";
    expect(normalizeLines(text, true, ALL).join("\n")).toBe(text);
    expect(normalizeLines(text, false, ALL).join("\n")).not.toBe(text);
  });
});

test("line numbers lose their padding where nearly all lines are numbered", () => {
  const read = "     1→import fs\n     2→\n    10→  indented";
  expect(normalizeLines(read, true, ALL)).toEqual(["1→import fs", "2→", "10→  indented"]);
  expect(normalizeLines(read, true, resolveShrinkFilters({ padding: false })).join("\n")).toBe(read);
  const prose = "  1\tone\nfirst\nsecond\nthird";
  expect(normalizeLines(prose, true, ALL).join("\n")).toBe(prose);
});

describe("runs of similar lines", () => {
  const shorten = (lines: readonly string[], isFree = all as (index: number) => boolean) =>
    applyCuts(lines, cutLikeLines(lines, isFree, "#7"));

  test("equal lines are counted, and progress keeps its first and last lines", () => {
    expect(shorten(["a", "waiting", "waiting", "waiting", "waiting", "b"])).toEqual([
      "a",
      "waiting",
      "[The line above stands here 3 more times]",
      "b",
    ]);
    const progress = Array.from({ length: 9 }, (_, index) => `Downloading ${index + 1}0 % of 31 MB`);
    expect(shorten(progress)).toEqual([
      progress[0],
      "[Lines 2-8 left out: progress like the lines around them; to see it: expand #7]",
      progress[8],
    ]);
  });

  test("lines of data that differ in their numbers stay, as do empty lines and protected lines", () => {
    const rows = ["id 4711", "id 4712", "id 4713", "id 4714", "id 4715"];
    expect(shorten(rows)).toEqual(rows);
    expect(shorten(["", "", "", "", ""])).toEqual(["", "", "", "", ""]);
    const same = ["x = 1", "x = 1", "x = 1", "x = 1"];
    expect(shorten(same, () => false)).toEqual(same);
  });
});

describe("passing tests", () => {
  const shorten = (text: string) => {
    const lines = text.split("\n");
    return applyCuts(lines, cutPassingTests(lines, all, "#7"));
  };

  test("a run of passing tests becomes one line for several test runners", () => {
    for (const pass of [
      "--- PASS: TestA (0.01s)",
      "ok  \texample.org/a\t0.4s",
      " ✓ adds numbers 3ms",
      "test adds ... ok",
      "tests/a.py::test_a PASSED",
    ])
      expect(shorten(["start", pass, pass, pass, pass, "end"].join("\n"))).toEqual([
        "start",
        "[Lines 2-5 left out: tests that passed; to see them: expand #7]",
        "end",
      ]);
  });

  test("every line that names a failed test stays", () => {
    const text =
      "=== RUN   TestA\n=== RUN   TestB\n=== RUN   TestC\n=== RUN   TestD\n    b.go:3: 4711 is wrong\n--- FAIL: TestB (0.00s)\nFAIL";
    const shown = shorten(text);
    expect(shown).toContain("=== RUN   TestB");
    expect(shown).toContain("    b.go:3: 4711 is wrong");
    expect(shown).toContain("--- FAIL: TestB (0.00s)");
  });
});

test("search hits in one file name its path once", () => {
  const path = "src/window/policies/longhaul.ts";
  const lines = [`${path}:3:import x`, `${path}-4-`, `${path}:12:  call(x)`, "src/b.ts:1:import x"];
  const shown = applyCuts(lines, cutSearchPaths(lines, all));
  expect(shown).toEqual([`${path}:`, "3:import x", "4-", "12:  call(x)", "src/b.ts:1:import x"]);
});

describe("repeated lines", () => {
  const code = Array.from({ length: 20 }, (_, index) => `export const value${index} = compute(${index});`);
  const shownLines = new ShownLines();
  const lines = ["head", ...code];
  shownLines.add({ seq: 4, cite: "#4", result: 1, label: "Read a.ts", texts: [lines.join("\n")], lines });
  const limits = { offset: 0, afterSeq: 0, isWhole: false };

  test("repeated lines become a pointer that names the entry, the result and the lines", () => {
    const lines = ["new", ...code.slice(5, 15), "end"];
    const [cut] = cutRepeatedLines(lines, all, shownLines, limits);
    expect(cut?.lines).toEqual(["[Lines 2-11 left out: the same as lines 7-16 of #4 result 2 (Read a.ts)]"]);
    expect(parsePointer(cut?.lines[0] as string)).toEqual({
      from: 1,
      to: 10,
      cite: "#4",
      result: 1,
      line: 6,
    });
  });

  test("repeated lines stay if they are few, if their file has changed since, or if they are protected", () => {
    expect(cutRepeatedLines(code.slice(0, 3), all, shownLines, limits)).toEqual([]);
    expect(cutRepeatedLines(code, all, shownLines, { ...limits, afterSeq: 4 })).toEqual([]);
    const cuts = cutRepeatedLines(code, (index) => index !== 10, shownLines, limits);
    expect(cuts.map(({ from, to }) => [from, to])).toEqual([
      [0, 9],
      [11, 19],
    ]);
  });

  test("the filter for identical results cuts repeated lines only if the whole result is repeated", () => {
    const whole = { ...limits, isWhole: true };
    expect(cutRepeatedLines(code, all, shownLines, whole)).toHaveLength(1);
    expect(cutRepeatedLines([...code, "more"], all, shownLines, whole)).toEqual([]);
  });
});

test("a pointer parses to what was formatted, and no other line parses as a pointer", () => {
  for (const pointer of [
    { from: 0, to: 0, cite: "#1", result: 0, line: 0 },
    { from: 3, to: 99, cite: "other#12", result: 2, line: 41 },
  ])
    for (const label of ["", "Bash git status", "Read …/src/a.ts"])
      expect(parsePointer(formatPointer(pointer, label))).toEqual(pointer);
  for (const line of [
    "",
    "[Lines 1-3 left out",
    "Lines 1-3 left out: the same as lines 1-3 of #1",
    "[Lines a-b left out: the same as lines 1-3 of #1]",
  ])
    expect(parsePointer(line)).toBeUndefined();
});

test("a call is described by tool and file, and a shell command only by its program, because it may hold a secret", () => {
  const call = (name: string, input: object) =>
    describeCall({ type: "tool-call", callId: "1", name, input: input as never });
  expect(call("Read", { file_path: "/repo/project/src/a.ts" })).toBe("Read /repo/project/src/a.ts");
  expect(call("Bash", { command: "curl -H 'Authorization: Bearer sk-123' https://x" })).toBe("Bash curl");
  expect(call("Bash", { command: "git diff --stat" })).toBe("Bash git diff");
  expect(call("search", { query: "password hunter2" })).toBe("search");
});

test("names, paths and quoted words of a question are recognized as requested", () => {
  const { subjects, names } = findAskedLiterals(
    'Why does `npm run build` fail in src/app.ts or main.go? See "exit code 3" and parseConfig.',
  );
  for (const text of ["npm run build", "/repo/src/app.ts", "exit code 3", "cat main.go"])
    expect(hasLiteral(text, subjects), text).toBe(true);
  for (const text of ["parseConfig()", "src/app.ts:3"]) expect(hasLiteral(text, names), text).toBe(true);
  expect(hasLiteral("parseConfig()", subjects)).toBe(false);
  expect(hasLiteral("something else", names)).toBe(false);
  expect(findAskedLiterals("go on").names).toEqual([]);
});

test("the last edit of a file is found by any path to the file", () => {
  const files = new EditedFiles();
  const call = (name: string, input: object) =>
    ({ type: "tool-call", callId: "1", name, input: input as never }) as const;
  files.observe(call("Edit", { file_path: "/repo/src/a.ts", old_string: "a", new_string: "b" }), 5);
  expect(files.findLastEdit(call("Read", { file_path: "src/a.ts" }))).toBe(5);
  expect(files.findLastEdit(call("Bash", { command: "cat /repo/src/a.ts" }))).toBe(5);
  expect(files.findLastEdit(call("Read", { file_path: "src/b.ts" }))).toBe(0);
  expect(files.findLastEdit(call("Read", { file_path: "/repo/other/src/aa.ts" }))).toBe(0);
});

test("filters can be switched off together or separately, and unknown ones are refused", () => {
  expect([...resolveShrinkFilters(undefined)]).toEqual([...SHRINK_FILTERS]);
  expect(resolveShrinkFilters(false).size).toBe(0);
  expect(resolveShrinkFilters({ tests: false }).has("tests")).toBe(false);
  expect(resolveShrinkFilters({ tests: false }).size).toBe(SHRINK_FILTERS.length - 1);
  expect(() => resolveShrinkFilters({ test: false } as never)).toThrow(/filters of terminal/);
  expect(() => resolveShrinkFilters({ tests: "no" } as never)).toThrow(/true or false/);
  expect(() => resolveShrinkFilters("no" as never)).toThrow(/shrink/);
});
