import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import { MAX_UNITS } from "../../../src/recall/embed/static/static-tokenizer.ts";
import { smallWeights } from "./small-weights.ts";

const embedder = createStaticEmbedder(smallWeights());
const wordsOf = (text: string) =>
  [...embedder.tokensOf(text)].map((token) => embedder.wordOf(token) ?? "piece");

describe("the tokens of a text", () => {
  test("a text is split into lower-case words, in order, with repetitions", () => {
    expect(wordsOf("Dog, CAT; dog!")).toEqual(["dog", "cat", "dog"]);
  });

  test("an identifier is split into its parts", () => {
    expect(wordsOf("useState")).toEqual(["use", "state"]);
    expect(wordsOf("USE_STATE2")).toEqual(["use", "state", "2"]);
    expect(wordsOf("HTTPState")).toEqual(["http", "state"]);
  });

  test("a name is kept whole if the whole name is known", () => {
    expect(wordsOf("JavaScript")).toEqual(["javascript"]);
  });

  test("a possessive ending is dropped, and a contraction is kept", () => {
    expect(wordsOf("cat's dog’s")).toEqual(["cat", "dog"]);
    expect(wordsOf("Don’t")).toEqual(["don't"]);
  });

  test("Chinese text is split into characters and pairs", () => {
    expect(wordsOf("数据")).toEqual(["数", "数据", "据"]);
    expect(wordsOf("cat数dog")).toEqual(["cat", "数", "dog"]);
  });

  test("a known word with an ending becomes its stem, and an unknown word is split into pieces", () => {
    expect(wordsOf("walking dogs")).toEqual(["walk", "dog"]);
    expect(wordsOf("zyx")).toEqual(["piece", "piece"]);
    expect(wordsOf("zy 987654")).toEqual([]);
  });

  test("full-width letters are read as plain ones, and invisible characters are ignored", () => {
    expect(wordsOf("Ｃａｔ d\u00adog\u200b")).toEqual(["cat", "dog"]);
  });

  test("the tokens of a text do not depend on earlier texts", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 200 }),
        fc.string({ maxLength: 50 }),
        (text, other) => {
          const first = embedder.tokensOf(text);
          embedder.tokensOf(other);
          expect(embedder.tokensOf(text)).toEqual(first);
        },
      ),
    );
  });

  test("the tokens of a very long text are limited", () => {
    const long = "cat ".repeat(MAX_UNITS);
    expect(embedder.tokensOf(long)).toHaveLength(MAX_UNITS / 4);
    expect(embedder.tokensOf("数".repeat(MAX_UNITS * 2)).length).toBeLessThanOrEqual(2 * MAX_UNITS);
  });
});
