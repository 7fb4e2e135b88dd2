import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { chooseLines } from "../../../src/window/extract/choose-lines.ts";
import { ClueTracker } from "../../../src/window/extract/clue-tracker.ts";
import { estimateNeed } from "../../../src/window/extract/estimate-need.ts";
import { EvictedLines } from "../../../src/window/extract/evicted-lines.ts";
import { LineList } from "../../../src/window/extract/line-list.ts";
import { renderInput } from "../../../src/window/extract/part-text.ts";
import { scanIdentifiers } from "../../../src/window/extract/scan-identifiers.ts";
import { isVerbatim, stripLine } from "../../../src/window/extract/verbatim-line.ts";
import { proofTest } from "../../support/proof.ts";

const identifiers = (text: string, isWide = false) => {
  const found = new Set<string>();
  scanIdentifiers(text, isWide, (identifier) => found.add(identifier));
  return [...found];
};
const says = (role: Message["role"], text: string): Message => ({ role, parts: [{ type: "text", text }] });

describe("identifiers", () => {
  test("identifiers are paths, symbols, long numbers and hashes, not words", () => {
    const text = "see src/parser/main_loop.ts, parseLine(), some plain words, 48213, deadbee1 and os.path";
    expect(identifiers(text)).toEqual([
      "src/parser/main_loop.ts",
      "parseLine",
      "48213",
      "deadbee1",
      "os.path",
    ]);
  });

  test("identifiers in a path can also be found by its last parts", () => {
    expect(identifiers("/srv/app/src/parser/main_loop.ts", true)).toContain("src/parser/main_loop.ts");
    expect(identifiers("/srv/app/src/parser/main_loop.ts", true)).toContain("main_loop");
  });
});

describe("verbatim lines", () => {
  test("verbatim lines are the same without a line number, a diff mark or indentation", () => {
    const line = "const total = countLines(file);";
    for (const shown of [line, `   12→${line}`, `+  ${line}`, `\t\t${line}`])
      expect(stripLine(shown)).toBe(line);
  });

  test("brackets and very long lines do not count as verbatim lines", () => {
    expect(isVerbatim("});")).toBe(false);
    expect(isVerbatim("x".repeat(500))).toBe(false);
    expect(isVerbatim("const total = 1;")).toBe(true);
  });
});

describe("the estimated need of a clue", () => {
  const clue = { isLine: true, origin: "read" as const, seen: 1, named: 0, age: 10, sinceNamed: 0 };

  test("the estimated need of a clue grows when the assistant names it often and lately", () => {
    const named = estimateNeed({ ...clue, named: 1, sinceNamed: 10 }, "far");
    expect(named).toBeGreaterThan(estimateNeed(clue, "far"));
    expect(estimateNeed({ ...clue, named: 4, sinceNamed: 10 }, "far")).toBeGreaterThan(named);
    expect(estimateNeed({ ...clue, named: 1, sinceNamed: 200, age: 200 }, "far")).toBeLessThan(named);
  });

  test("the estimated need of code is higher than that of prose", () => {
    for (const horizon of ["near", "far"] as const)
      expect(estimateNeed(clue, horizon)).toBeGreaterThan(
        estimateNeed({ ...clue, origin: "assistant" }, horizon),
      );
  });
});

describe("an extract", () => {
  /** Reads messages and shelves the lines of the first one. */
  function shelved(messages: readonly Message[]) {
    const clues = new ClueTracker("far");
    const [first] = messages.map((message, index) => clues.read({ seq: index + 1, message }));
    const shelf = new EvictedLines();
    if (first) shelf.add(first.lines);
    clues.startRanking();
    return { clues, shelf };
  }

  test("an extract takes each clue once, and first the lines most needed for their size", () => {
    const old = says(
      "user",
      "export function parseLine(text) {\nunrelated_symbol_one = 12345;\nexport function parseLine(text) {",
    );
    const rounds = Array.from({ length: 4 }, () => says("assistant", "I look at parseLine again"));
    const { clues, shelf } = shelved([old, ...rounds]);
    const chosen = chooseLines(shelf.lines, shelf.rank(clues), clues, { roomTokens: 22, minWorth: 0.00001 });
    expect(chosen.map((index) => shelf.lines.texts[index])).toEqual(["export function parseLine(text) {\n"]);
  });

  test("an extract leaves out clues that the window holds anyway", () => {
    const old = says("user", "export function parseLine(text) {");
    const { clues, shelf } = shelved([old]);
    clues.cover(clues.findClues(old));
    expect(
      chooseLines(shelf.lines, shelf.rank(clues), clues, { roomTokens: 1_000, minWorth: 0.00001 }),
    ).toEqual([]);
  });

  test("an extract never holds reasoning", () => {
    const thought: Message = {
      role: "assistant",
      parts: [{ type: "reasoning", text: "parseLine fails at 48213" }],
    };
    expect(shelved([thought]).shelf.lines.length).toBe(0);
  });
});

describe("the tracked lines of a session", () => {
  const wordsOf = (seq: number) =>
    says(
      "tool",
      Array.from({ length: 40 }, (_, line) => `const value_${seq}_${line} = ${seq * 100 + line};`).join("\n"),
    );

  proofTest(
    "the tracked lines of a session are bounded, and those that the assistant named outlive the rest",
    () => {
      const clues = new ClueTracker("far");
      const shelf = new EvictedLines();
      const named = clues.read({
        seq: 1,
        message: says("assistant", "the culprit is handleCrash in main_loop"),
      });
      shelf.add(named.lines);
      for (let seq = 2; seq < 1_600; seq++) {
        if (seq % 50 === 0) clues.read({ seq, message: says("assistant", "handleCrash again") });
        shelf.add(clues.read({ seq, message: wordsOf(seq) }).lines);
        clues.startRanking();
        if (seq % 20 === 0) shelf.rank(clues);
      }
      expect(clues.size).toBeLessThanOrEqual(120_000);
      expect(shelf.lines.length).toBeLessThan(6_000);
      expect(shelf.lines.texts.some((text) => text.includes("handleCrash"))).toBe(true);
    },
  );

  test("the tracked clues of a session know when a file was last touched, however many files there were", () => {
    /** The worth of a line of the second to last file, once a file is touched again. */
    function worthAfter(touched: string) {
      const clues = new ClueTracker("near");
      let seq = 0;
      const callOf = (path: string, output: string) => {
        const callId = `call ${++seq}`;
        const call = { type: "tool-call", callId, name: "read", input: { path } } as const;
        clues.read({ seq, message: { role: "assistant", parts: [call] } });
        const result = { type: "tool-result", callId, output: [{ type: "text", text: output }] } as const;
        return clues.read({ seq: ++seq, message: { role: "tool", parts: [result] } }).clues;
      };
      for (let file = 0; file < 5_000; file++) callOf(`src/file-${file}.ts`, "");
      const line = callOf("src/second-to-last.ts", "const total = countLines(file);");
      callOf("src/last.ts", "");
      for (let turn = 0; turn < 30; turn++) clues.read({ seq: ++seq, message: says("user", "Go on.") });
      callOf(touched, "");
      clues.startRanking();
      return clues.sumWorth(line, 0, line.length);
    }
    expect(worthAfter("src/last.ts")).toBe(worthAfter("src/file-4000.ts"));
    expect(worthAfter("src/second-to-last.ts")).toBeGreaterThan(worthAfter("src/last.ts"));
  });

  test("the tracked lines of a session hold a repeated line once, at its latest place", () => {
    const clues = new ClueTracker("far");
    const shelf = new EvictedLines();
    for (const seq of [1, 2, 3]) shelf.add(clues.read({ seq, message: wordsOf(7) }).lines);
    clues.startRanking();
    shelf.rank(clues);
    expect(shelf.lines.length).toBe(40);
    expect(new Set(shelf.lines.sources.map(({ seq }) => seq))).toEqual(new Set([3]));
  });
});

test("lines of a list keep their clues when other lines are dropped", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat(1_000), { minLength: 1, maxLength: 9 })),
      fc.func(fc.boolean()),
      (rows, isKept) => {
        const list = new LineList();
        const source = { seq: 1, cite: "#1", heading: "user" };
        for (const [index, row] of rows.entries()) list.add(`line ${index}`, index, source, row);
        const copy = new LineList();
        copy.addAll(list);
        copy.retain((index) => isKept(index));
        const { tokens, ends, clues } = copy.columns;
        const kept = copy.texts.map((text, index) => ({
          text,
          tokens: tokens[index],
          clues: [...clues.slice(index === 0 ? 0 : ends[index - 1], ends[index])],
        }));
        const expected = rows.flatMap((row, index) =>
          isKept(index) ? [{ text: `line ${index}`, tokens: index, clues: row }] : [],
        );
        expect(kept).toEqual(expected);
      },
    ),
  );
});

test("the input of a call is rendered in lines that can be recognized", () => {
  expect(renderInput({ file_path: "a.ts", old_string: "one\ntwo", limit: 3 })).toBe(
    "file_path: a.ts\nold_string:\none\ntwo\nlimit: 3",
  );
});
