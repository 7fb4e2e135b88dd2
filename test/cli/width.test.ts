import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitText, measureWidth, padText } from "../../src/cli/terminal/width.ts";

describe("the width of a text", () => {
  test.each([
    ["plain", 5],
    ["日本語", 6],
    ["한국어", 6],
    ["ｆｕｌｌ", 8],
    ["ｶﾅ", 2],
    ["é", 1],
    ["e\u0301", 1],
    ["👍", 2],
    ["👍🏽", 2],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["1️⃣", 2],
    ["→ … └", 5],
    ["", 0],
  ])("the width of a text of %s is %i columns", (text, width) => {
    expect(measureWidth(text)).toBe(width);
  });

  test("a cut text never exceeds its columns, and a padded text fills them exactly", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 30 }), (text, columns) => {
        const cut = fitText(text, columns);
        expect(measureWidth(cut)).toBeLessThanOrEqual(columns);
        expect(measureWidth(padText(cut, columns))).toBe(columns);
        if (measureWidth(text) <= columns) expect(cut).toBe(text);
        else expect(cut.endsWith("…")).toBe(true);
      }),
    );
  });
});
