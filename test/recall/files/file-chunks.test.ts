import fc from "fast-check";
import { expect, test } from "vitest";
import { findLineNumbers, splitFile } from "../../../src/recall/files/file-chunks.ts";

const line = fc.oneof(
  fc.string({ maxLength: 90 }),
  fc.constantFrom("", "}", "def f():", "    return 1", "x".repeat(300)),
);

test("every line with text is in a chunk, chunks begin at a line, and none exceeds the limit", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 120 }), (lines) => {
      const text = lines.map((one) => one.replaceAll("\n", " ")).join("\n");
      const chunks = splitFile(text);
      const covered = new Uint8Array(text.length);
      for (const { from, to } of chunks) {
        covered.fill(1, from, to);
        expect(to - from).toBeLessThanOrEqual(1_750);
        expect(from === 0 || text[from - 1] === "\n").toBe(true);
      }
      for (let at = 0; at < text.length; at++)
        expect(covered[at] === 1 || (text[at] as string).trim() === "").toBe(true);
    }),
  );
});

test("an unindented definition begins a chunk", () => {
  const body = Array.from(
    { length: 18 },
    (_, index) => `    value_${index} = compute_something(${index})`,
  ).join("\n");
  const text = Array.from({ length: 6 }, (_, index) => `def function_${index}():\n${body}\n`).join("\n");
  for (const { from } of splitFile(text)) expect(text.slice(from, from + 4)).toBe("def ");
});

test("the lines of a chunk are numbered from one", () => {
  expect(findLineNumbers("a\nb\nc\n", { from: 2, to: 4 })).toEqual({ first: 2, last: 2 });
  expect(findLineNumbers("a\nb\nc\n", { from: 0, to: 6 })).toEqual({ first: 1, last: 3 });
});
