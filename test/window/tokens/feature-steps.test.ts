import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateText } from "../../../src/window/tokens/estimate.ts";
import { countFeatures, TEXT_FEATURES, TOKEN_WEIGHTS } from "../../../src/window/tokens/estimate-text.ts";

function listFeatures(text: string): Partial<Record<(typeof TEXT_FEATURES)[number], number>> {
  const counts = countFeatures(text);
  return Object.fromEntries(
    TEXT_FEATURES.flatMap((name, index) => (counts[index] ? [[name, counts[index]]] : [])),
  );
}

test("each character counts toward the feature of its run", () => {
  expect(listFeatures("a word")).toEqual({ words: 2 });
  expect(listFeatures("readWholeFile")).toEqual({ words: 1, joinedWords: 2 });
  expect(listFeatures("aB3xYz")).toEqual({ words: 1, scrambled: 2, digitGroups: 1, wordsAfterDigits: 1 });
  expect(listFeatures("considerable HTTP")).toEqual({ words: 2, longWordLetters: 5, capitals: 3 });
  expect(listFeatures("1234567")).toEqual({ digitGroups: 3 });
  expect(listFeatures("x === y);\n\n    z")).toEqual({
    words: 3,
    marks: 2,
    furtherMarks: 1,
    repeatedMarks: 2,
    lineBreaks: 1,
    indents: 1,
  });
  expect(listFeatures("漢字かな한é я😀。")).toMatchObject({
    han: 2,
    kana: 2,
    hangul: 1,
    accented: 1,
    cyrillic: 1,
  });
});

test("the estimate of any text is the rounded sum of its features", () => {
  const character = fc.constantFrom(..."aAbZ09  \n\t.,((é漢か한яα😀。");
  const text = fc.array(character, { maxLength: 40 }).map((all) => all.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 3 }), (piece, times) => {
      const whole = piece.repeat(times);
      const counts = countFeatures(whole);
      const tokens = TOKEN_WEIGHTS.reduce(
        (sum, weight, index) => sum + (counts[index] as number) * weight,
        0,
      );
      expect(estimateText(whole)).toBe(whole === "" ? 0 : Math.max(1, Math.round(tokens)));
    }),
    { numRuns: 100 },
  );
});

test("a long text is estimated as a whole", () => {
  const line = "const value = readAll(file, 1234);  // considerable\n";
  const counts = countFeatures(line.repeat(1_000));
  const tokens = TOKEN_WEIGHTS.reduce((sum, weight, index) => sum + (counts[index] as number) * weight, 0);
  expect(estimateText(line.repeat(1_000))).toBe(Math.round(tokens));
});
