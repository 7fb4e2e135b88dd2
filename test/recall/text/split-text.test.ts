import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PROSE_CHUNK, splitText } from "../../../src/recall/text/split-text.ts";

describe("chunks", () => {
  test("chunks cover every text without gap or overlap and stay within their bound", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 80 }),
      fc.constantFrom("\n\n", "\n", ". ", "。", "word "),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 120 }), (pieces) => {
        const text = pieces.join("");
        let at = 0;
        for (const { from, to } of splitText(text)) {
          expect(from).toBe(at);
          expect(to).toBeGreaterThan(from);
          expect(to - from).toBeLessThanOrEqual(PROSE_CHUNK.max);
          at = to;
        }
        expect(at).toBe(text.length);
      }),
    );
  });

  test("chunks end at a blank line rather than inside a paragraph", () => {
    const paragraph = "A sentence of some length, to fill a paragraph. ".repeat(7).trim();
    const text = `${paragraph}\n\n${paragraph}\n\n${paragraph}`;
    for (const { from, to } of splitText(text)) expect(text.slice(from, to).trim()).toBe(paragraph);
  });

  test("chunks never split a surrogate pair", () => {
    const text = "😀".repeat(1_000);
    for (const { from, to } of splitText(text)) expect(text.slice(from, to).isWellFormed()).toBe(true);
  });

  test("a text without any break is still split into chunks", () => {
    expect(splitText("x".repeat(100_000)).length).toBeGreaterThan(100);
  });
});
