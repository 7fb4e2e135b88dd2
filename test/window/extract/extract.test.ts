import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { chooseLines } from "../../../src/window/extract/choose-lines.ts";
import { Facts } from "../../../src/window/extract/facts.ts";
import { identifiersOf } from "../../../src/window/extract/identifiers.ts";
import { needOf } from "../../../src/window/extract/need.ts";
import { inputText } from "../../../src/window/extract/said.ts";
import { bareLine, isVerbatim } from "../../../src/window/extract/verbatim-line.ts";

const identifiers = (text: string, isWide = false) => {
  const found = new Set<string>();
  identifiersOf(text, isWide, (identifier) => found.add(identifier));
  return [...found];
};
const says = (role: Message["role"], text: string): Message => ({ role, parts: [{ type: "text", text }] });

describe("identifiers", () => {
  test("are paths, symbols, long numbers and hashes, not words", () => {
    const text = "see src/parser/main_loop.ts, parseLine(), some plain words, 48213, deadbee1 and os.path";
    expect(identifiers(text)).toEqual([
      "src/parser/main_loop.ts",
      "parseLine",
      "48213",
      "deadbee1",
      "os.path",
    ]);
  });

  test("are found by their ends where they are looked for", () => {
    expect(identifiers("/srv/app/src/parser/main_loop.ts", true)).toContain("src/parser/main_loop.ts");
    expect(identifiers("/srv/app/src/parser/main_loop.ts", true)).toContain("main_loop");
  });
});

describe("verbatim lines", () => {
  test("are the same with a number, a diff mark or another indentation before them", () => {
    const line = "const total = countLines(file);";
    for (const shown of [line, `   12→${line}`, `+  ${line}`, `\t\t${line}`])
      expect(bareLine(shown)).toBe(line);
  });

  test("are neither brackets nor blobs", () => {
    expect(isVerbatim("});")).toBe(false);
    expect(isVerbatim("x".repeat(500))).toBe(false);
    expect(isVerbatim("const total = 1;")).toBe(true);
  });
});

describe("what is needed again", () => {
  const fact = { isLine: true, origin: "read" as const, seen: 1, named: 0, age: 10, sinceNamed: 0 };

  test("is what the assistant has named, often and lately", () => {
    const named = needOf({ ...fact, named: 1, sinceNamed: 10 }, "far");
    expect(named).toBeGreaterThan(needOf(fact, "far"));
    expect(needOf({ ...fact, named: 4, sinceNamed: 10 }, "far")).toBeGreaterThan(named);
    expect(needOf({ ...fact, named: 1, sinceNamed: 200, age: 200 }, "far")).toBeLessThan(named);
  });

  test("is code rather than prose", () => {
    for (const horizon of ["near", "far"] as const)
      expect(needOf(fact, horizon)).toBeGreaterThan(needOf({ ...fact, origin: "assistant" }, horizon));
  });
});

describe("an extract", () => {
  test("takes each fact once, and what is needed most for its size first", () => {
    const facts = new Facts();
    const old = says(
      "user",
      "export function parseLine(text) {\nunrelated_symbol_one = 12345;\nexport function parseLine(text) {",
    );
    facts.observe(old);
    for (let round = 0; round < 4; round++) facts.observe(says("assistant", "I look at parseLine again"));
    const lines = facts.linesIn(old, 1);
    const chosen = chooseLines(lines, {
      room: 22,
      least: 0,
      need: (fact) => facts.need(fact, "far"),
      covered: new Set(),
    });
    expect(chosen.map(({ text }) => text)).toEqual(["export function parseLine(text) {"]);
  });

  test("leaves out what is in the window anyway", () => {
    const facts = new Facts();
    const old = says("user", "export function parseLine(text) {");
    facts.observe(old);
    const covered = facts.factsIn(old);
    const need = () => 1;
    expect(chooseLines(facts.linesIn(old, 1), { room: 1_000, least: 0, need, covered })).toEqual([]);
  });
});

test("the input of a call is told in lines that can be recognised", () => {
  expect(inputText({ file_path: "a.ts", old_string: "one\ntwo", limit: 3 })).toBe(
    "file_path: a.ts\nold_string:\none\ntwo\nlimit: 3",
  );
});
