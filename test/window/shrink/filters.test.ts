import { describe, expect, test } from "vitest";
import { cutJsonMembers } from "../../../src/window/shrink/json-members.ts";
import { applyCuts } from "../../../src/window/shrink/line-cut.ts";
import { OutputLines, thinNumbers } from "../../../src/window/shrink/output-lines.ts";
import { formatLeftOut, formatPointer, parsePointer } from "../../../src/window/shrink/pointer.ts";
import {
  cutLikeLines,
  cutPassingTests,
  isFailing,
  isRunningCommand,
} from "../../../src/window/shrink/program-output.ts";
import { cutRepeatedLines } from "../../../src/window/shrink/repeated-lines.ts";
import { describeCall, findAskedLiterals, hasLiteral } from "../../../src/window/shrink/result-shrinker.ts";
import { cutSearch } from "../../../src/window/shrink/search-hits.ts";
import { ShownLines } from "../../../src/window/shrink/shown-lines.ts";
import { resolveShrinkFilters, SHRINK_FILTERS } from "../../../src/window/shrink/shrink-filters.ts";
import { normalizeLines, stripTerminalCodes } from "../../../src/window/shrink/shrink-output.ts";
import { hasStub } from "../../../src/window/stub.ts";

const all = () => true;
const leftOut = (from: number, to: number) => formatLeftOut(`Lines ${from + 1}-${to + 1}`, "why", "#7");
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
    applyCuts(lines, cutLikeLines(lines, isFree, leftOut));

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
      "[Lines 2-8 left out: why; whole: expand #7]",
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
    return applyCuts(lines, cutPassingTests(lines, all, leftOut));
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
        "[Lines 2-5 left out: why; whole: expand #7]",
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

test("the report of a program is told from output that it was asked to show", () => {
  for (const command of ["npm test", "cd app && go test ./... 2>&1 | tail -5", "mise run lint", "make"])
    expect(isRunningCommand(command), command).toBe(true);
  for (const command of ["git diff main", "cd src && grep -rn x .", "git -C /repo log -p", "cat a | head -3"])
    expect(isRunningCommand(command), command).toBe(false);
});

test("lines about failures are recognized, and passing tests whose names speak of errors are not among them", () => {
  for (const line of [
    "--- FAIL: TestA (0.1s)",
    "src/a.ts:3:7: unused",
    "  at run (a.js:1:2)",
    "Warning: old",
    "✗ adds",
  ])
    expect(isFailing(line), line).toBe(true);
  for (const line of ["--- PASS: TestErrors (0.1s)", " ✓ reports an error", "building a", "12 tests"])
    expect(isFailing(line), line).toBe(false);
});

describe("the output of a search", () => {
  const path = "src/window/policies/longhaul.ts";
  const shorten = (lines: readonly string[], isGrouping = true) =>
    applyCuts(
      lines,
      cutSearch(lines, all, { isGrouping, describeLeftOut: (count) => `[${count} lines left out]` }),
    );

  test("hits in one file and the lines around them name its path once, in its longest form", () => {
    expect(
      shorten([
        `/repo/${path}-2-a-3-b`,
        `${path}:3:import x`,
        `${path}-4-`,
        "--",
        `${path}:12:  call(x)`,
        "src/b.ts:1:import x",
      ]),
    ).toEqual([`/repo/${path}:`, "2-a-3-b", "3:import x", "4-", "--", "12:  call(x)", "src/b.ts:1:import x"]);
  });

  test("a path with dashes and digits is not cut in its middle", () => {
    const dashed = "docs/2026-01-02-notes.md";
    expect(shorten([`${dashed}-3-before`, `${dashed}:4:hit`, `${dashed}-5-after`])).toEqual([
      `${dashed}:`,
      "3-before",
      "4:hit",
      "5-after",
    ]);
  });

  test("of many lines around hits the first stay, and every hit does", () => {
    const lines = Array.from({ length: 40 }, (_, at) => [
      `${path}-${at * 10}-${"before ".repeat(8)}`,
      `${path}:${at * 10 + 1}:hit ${at}`,
      "--",
    ]).flat();
    for (const isGrouping of [true, false]) {
      const shown = shorten(lines, isGrouping);
      expect(shown.filter((line) => line.includes(":hit "))).toHaveLength(40);
      expect(shown.filter((line) => line.endsWith(" lines left out]"))).toHaveLength(1);
      expect(shown.join("\n").length).toBeLessThan(lines.join("\n").length / 1.5);
      expect(shown.slice(0, 3).join("\n")).toContain("before");
    }
  });

  test("the numbers and dashes of other output are no search", () => {
    const log = ["12:30:01 started", "12-30 done", "a-1-b", "plain"];
    expect(shorten(log)).toEqual(log);
  });
});

test("JSON loses members without a value, opaque ids and API addresses, and nothing else", () => {
  const shorten = (text: string) => {
    const lines = text.split("\n");
    return applyCuts(
      lines,
      cutJsonMembers(lines, all, (count) => `[${count} members]`),
    ).join("\n");
  };
  const urls = Array.from(
    { length: 12 },
    (_, at) => `"k${at === 0 ? "" : "x".repeat(at)}_url":"https://api.x/${at}/long/way"`,
  );
  const long = `{"id":12345678901234567890,${urls.join(",")},"body":"\\"node_id\\":null, kept","html_url":"https://x/1","user":{"node_id":"abc"},"end":null}`;
  expect(shorten(long)).toBe(
    '[13 members]\n{"id":12345678901234567890,"body":"\\"node_id\\":null, kept","html_url":"https://x/1","user":{"node_id":"abc"}}',
  );
  expect(shorten('{"node_id":null}')).toBe('{"node_id":null}');
});

test("of numbers that follow from the line before, every tenth stays", () => {
  const lines = Array.from({ length: 12 }, (_, at) => `${at + 8}→line ${at}`);
  expect(thinNumbers(lines)).toEqual([
    "8→line 0",
    "→line 1",
    "10→line 2",
    ...Array.from({ length: 9 }, (_, at) => `→line ${at + 3}`),
  ]);
  const shown = new OutputLines(thinNumbers([...lines, "40→far", "41→next", "a note", "42→after"]));
  expect(shown.numbers).toEqual([...lines.keys()].map((at) => at + 8).concat([40, 41, 0, 42]));
  expect(thinNumbers(["1\ta", "2\tb"])).toEqual(["1\ta", "2\tb"]);
});

describe("repeated lines", () => {
  const code = Array.from({ length: 20 }, (_, index) => `export const value${index} = compute(${index});`);
  const place = { seq: 4, cite: "#4", isOneText: true };
  const cut = (
    lines: readonly string[],
    shown: readonly string[],
    { isFree = all as (index: number) => boolean, afterSeq = 0, isRun = false, part = "result 1" } = {},
  ) => {
    const shownLines = new ShownLines();
    shownLines.add({ ...place, part, label: "Read a.ts", output: new OutputLines(shown, isRun) });
    const from = { output: new OutputLines(lines, isRun), offset: 0, isOneText: true };
    return cutRepeatedLines(from, isFree, shownLines, afterSeq);
  };
  const numbered = (lines: readonly string[], first: number) =>
    lines.map((line, index) => `${first + index}→${line}`);

  test("repeated lines become a pointer that names the entry, the part of it and the lines", () => {
    const lines = ["new", ...code.slice(5, 15), "end"];
    const [only] = cut(lines, ["head", ...code], { part: "result 2" });
    expect(only?.lines).toEqual(["[Lines 2-11 left out: the same as lines 7-16 of #4 result 2 (Read a.ts)]"]);
    expect(parsePointer(only?.lines[0] as string)).toEqual({
      from: 1,
      to: 10,
      isNumbered: false,
      cite: "#4",
      part: "result 2",
      line: 6,
      isShownNumbered: false,
      isTimed: false,
    });
  });

  test("numbered lines are named by their numbers, also where they have moved or only one side has numbers", () => {
    const text = (lines: readonly string[], shown: readonly string[]) =>
      cut(lines, shown).flatMap((one) => one.lines);
    expect(text(numbered(code, 30), numbered(code, 30))).toEqual([
      "[30-49 left out: the same as in #4 (Read a.ts)]",
    ]);
    expect(text(numbered(code, 33), numbered(code, 30))).toEqual([
      "[33-52 left out: the same as 30-49 of #4 (Read a.ts)]",
    ]);
    expect(text(code, numbered(code, 30))).toEqual([
      "[Lines 1-20 left out: the same as 30-49 of #4 (Read a.ts)]",
    ]);
    expect(text(numbered(code, 30), code)).toEqual([
      "[30-49 left out: the same as lines 1-20 of #4 (Read a.ts)]",
    ]);
  });

  test("a changed line stays between pointers to the lines around it", () => {
    const changed = code.with(10, "export const value10 = changed;");
    const shown = applyCuts(numbered(changed, 1), cut(numbered(changed, 1), numbered(code, 1)));
    expect(shown).toEqual([
      "[1-10 left out: the same as in #4 (Read a.ts)]",
      "11→export const value10 = changed;",
      "[12-20 left out: the same as in #4]",
    ]);
  });

  test("lines whose numbers do not count up are no run", () => {
    const jumping = code.map((line, index) => `${index * 3 + 1}: ${line}`);
    expect(
      cut(
        jumping,
        jumping.map((line) => line.replace(/^\d+/, (number) => `${Number(number) + 2}`)),
      ),
    ).toEqual([]);
  });

  test("the report of a program may differ from the one before it in its times, and the pointer says so", () => {
    const report = (seconds: number) => code.map((line) => `12:00:0${seconds} ${line} (0.${seconds}1s)`);
    const [only] = cut(report(3), report(2), { isRun: true });
    expect(only?.lines).toEqual([
      "[Lines 1-20 left out: the same as lines 1-20 of #4, but for times (Read a.ts)]",
    ]);
    expect(cut(report(3), report(2))).toEqual([]);
  });

  test("repeated lines stay if they are few, were shown before the given place, or are protected", () => {
    expect(cut(code.slice(0, 2), code)).toEqual([]);
    expect(cut(code, code, { afterSeq: 4 })).toEqual([]);
    expect(cut(code, code, { isFree: (index) => index !== 10 }).map(({ from, to }) => [from, to])).toEqual([
      [0, 9],
      [11, 19],
    ]);
  });
});

test("a pointer parses to what was formatted, and no other line parses as a pointer", () => {
  const plain = { cite: "#1", part: "result 1", isNumbered: false, isShownNumbered: false, isTimed: false };
  for (const pointer of [
    { ...plain, from: 0, to: 0, line: 0 },
    { ...plain, from: 3, to: 99, cite: "other#12", part: "result 3", line: 41, isTimed: true },
    { ...plain, from: 3, to: 9, part: "call 2", line: 4, isNumbered: true },
    { ...plain, from: 3, to: 9, line: 4, isNumbered: true, isShownNumbered: true },
    { ...plain, from: 3, to: 9, line: 3, isNumbered: true, isShownNumbered: true },
    { ...plain, from: 3, to: 3, line: 3, isShownNumbered: true },
  ])
    for (const label of ["", "Bash git status", "Read …/src/a.ts"])
      expect(parsePointer(formatPointer(pointer, label))).toEqual(pointer);
  for (const line of [
    "",
    "[Lines 1-3 left out",
    "Lines 1-3 left out: the same as lines 1-3 of #1",
    "[Lines a-b left out: the same as lines 1-3 of #1]",
    "[Lines 1-3 left out: the same as in #1]",
  ])
    expect(parsePointer(line)).toBeUndefined();
});

test("no note of the filters is taken for the stub of an edit", () => {
  expect(hasStub(formatLeftOut("Lines 2-8", "progress like the lines around them", "main#4"))).toBe(false);
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
    1,
  );
  for (const text of ["npm run build", "/repo/src/app.ts", "exit code 3", "cat main.go"])
    expect(hasLiteral(text, subjects), text).toBe(true);
  for (const text of ["parseConfig()", "src/app.ts:3"]) expect(hasLiteral(text, names), text).toBe(true);
  expect(hasLiteral("parseConfig()", subjects)).toBe(false);
  expect(hasLiteral("something else", names)).toBe(false);
  expect(findAskedLiterals("go on", 1).names).toEqual([]);
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
