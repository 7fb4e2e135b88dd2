import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CopyFilter } from "../../../src/histories/deduplication/copy-filter.ts";
import { COPY_RULES, type CopyRules } from "../../../src/histories/deduplication/copy-rules.ts";
import { KnownPrints } from "../../../src/histories/deduplication/known-prints.ts";
import { type KnownContent, KnownTexts } from "../../../src/histories/deduplication/known-texts.ts";
import type { Json } from "../../../src/kernel/index.ts";

const PROSE = "The quick brown fox jumps over the lazy dog. ".repeat(8).trim();
const FILE =
  "import fs from 'node:fs';\n\nconst text = fs.readFileSync('a.txt', 'utf8');\nconsole.log(text);";

function strip(rules: CopyRules, known: KnownContent, value: unknown) {
  return new CopyFilter(rules, new KnownTexts(rules, known)).strip(value);
}

describe("copies in histories of Claude Code", () => {
  const rules = COPY_RULES["claude-code"];

  test("a file counts as a copy if the model saw it with line numbers", () => {
    const numbered = FILE.split("\n").map((line, index) => `     ${index + 1}→${line}`);
    const { value, copied } = strip(rules, { searched: [numbered.join("\n")] }, { content: FILE, lines: 4 });
    expect(value).toEqual({ lines: 4 });
    expect(copied).toBe(FILE.length);
  });

  test("lines from the middle of a numbered file count as a copy", () => {
    const numbered = FILE.split("\n").map((line, index) => `     ${index + 1}\t${line}`);
    const middle = FILE.split("\n").slice(2).join("\n");
    expect(strip(rules, { searched: [numbered.join("\n")] }, middle).value).toBeUndefined();
  });

  test("short texts and numbers count as copies only in a field of the same name", () => {
    const known = { searched: [{ file_path: "a.txt", limit: 10 }] };
    expect(strip(rules, known, { filePath: "a.txt", limit: 10, offset: 10, other: "a.txt" }).value).toEqual({
      offset: 10,
      other: "a.txt",
    });
  });

  test("an error counts as a copy of the same text without its prefix", () => {
    expect(strip(rules, { searched: [PROSE] }, `Error: ${PROSE}`).value).toBeUndefined();
  });

  test("copies in a list become null, and empty values are removed", () => {
    const value = { list: [PROSE, 1, PROSE, 2, PROSE], empty: {}, nothing: null, blank: "  " };
    expect(strip(rules, { searched: [PROSE] }, value).value).toEqual({ list: [null, 1, null, 2] });
  });

  test("a list of adjacent lines counts as one copy", () => {
    const { value, copied } = strip(rules, { searched: [FILE] }, { lines: FILE.split("\n") });
    expect(value).toBeUndefined();
    expect(copied).toBe(JSON.stringify(FILE.split("\n")).length);
  });

  test("content that can be derived from the log counts as a copy", () => {
    const known = { searched: [], isDerived: (field: string) => field === "originalFile" };
    expect(strip(rules, known, { originalFile: PROSE, newFile: PROSE }).value).toEqual({ newFile: PROSE });
  });
});

describe("copies in histories of opencode", () => {
  const rules = COPY_RULES.opencode;

  test("output that is cut or lacks line numbers counts as a copy", () => {
    const lines = FILE.split("\n").map((line, index) => `${String(index + 1).padStart(5, "0")}| ${line}`);
    const output = `<file>\n${lines.join("\n")}\n</file>\n${PROSE}`;
    const value = { preview: FILE, start: `${output.slice(0, 80)}\n\n...`, count: 4 };
    expect(strip(rules, { searched: [output] }, value).value).toEqual({ count: 4 });
  });

  test("a short line that occurs in the output is kept, and a long one is removed", () => {
    const path = `/home/${"folder/".repeat(20)}file.ts`;
    const value = { path, prose: PROSE };
    expect(strip(rules, { searched: [`${path}\n${PROSE}`] }, value).value).toEqual({ path });
  });

  test("a text of the input counts as a copy only as a whole, and lists are kept", () => {
    const whole = new Set([PROSE]);
    const value = { prose: PROSE, half: PROSE.slice(0, 100), list: [PROSE] };
    expect(strip(rules, { searched: [], whole }, value).value).toEqual({
      half: PROSE.slice(0, 100),
      list: [PROSE],
    });
  });

  test("an object with nothing but copies is removed, and an empty one is kept", () => {
    const { value, copied } = strip(
      rules,
      { searched: [PROSE] },
      { inner: { prose: PROSE }, empty: {}, none: null },
    );
    expect(value).toEqual({ empty: {}, none: null });
    expect(copied).toBe(PROSE.length + 2);
  });
});

describe("copies in histories of Codex", () => {
  const rules = COPY_RULES.codex;

  test("known texts and objects are removed at any place, and shorter ones are kept", () => {
    const known = new KnownPrints(10);
    const action = { type: "search", query: PROSE };
    for (const text of [PROSE, JSON.stringify(action), "short"]) known.add(text);
    const value = { text: PROSE, short: "short", action, list: ["a", PROSE, { text: PROSE }], none: null };
    expect(new CopyFilter(rules, known).strip(value).value).toEqual({
      short: "short",
      list: ["a", {}],
      none: null,
    });
  });

  test("values below the depth limit are kept", () => {
    const known = new KnownPrints(10);
    known.add(PROSE);
    const nested = (depth: number): Json => (depth === 0 ? { text: PROSE } : { inner: nested(depth - 1) });
    const filter = new CopyFilter(rules, known);
    expect(JSON.stringify(filter.strip(nested(6)).value)).not.toContain(PROSE);
    expect(filter.strip(nested(7)).value).toEqual(nested(7));
  });
});

test("the oldest text is forgotten first, and a repeated text counts as new", () => {
  const known = new KnownPrints(2);
  expect([known.add("a"), known.add("b"), known.add("a"), known.add("c")]).toEqual([true, true, false, true]);
  expect(["a", "b", "c"].map((text) => known.hasText(text))).toEqual([true, false, true]);
  expect(new KnownPrints(2, known.toJSON()).hasText("a")).toBe(true);
});

test.each(Object.entries(COPY_RULES))(
  "%s: without known texts, at most empty values are removed",
  (_, rules) => {
    const hasContent = (value: unknown): boolean =>
      typeof value === "object" && value !== null
        ? Object.values(value).some(hasContent)
        : value !== null && String(value).trim() !== "";
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const left = strip(rules, { searched: [] }, value).value;
        if (rules.drops === "empty") expect(left !== undefined).toBe(hasContent(value));
        else expect(left).toEqual(value);
      }),
    );
  },
);
