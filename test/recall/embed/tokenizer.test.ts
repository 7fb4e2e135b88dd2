import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import { MAX_UNITS } from "../../../src/recall/embed/static/static-tokenizer.ts";
import { smallWeights } from "./small-weights.ts";

const embedder = createStaticEmbedder(smallWeights());
const wordsOf = (text: string) =>
  [...embedder.tokensOf(text)].map((token) => embedder.wordOf(token) ?? "piece");

describe("the tokens of a text", () => {
  test("the tokens of a text are its words in small letters, in order, with repetitions", () => {
    expect(wordsOf("Dog, CAT; dog!")).toEqual(["dog", "cat", "dog"]);
  });

  test("the tokens of a text are the parts of an identifier", () => {
    expect(wordsOf("useState")).toEqual(["use", "state"]);
    expect(wordsOf("USE_STATE2")).toEqual(["use", "state", "2"]);
    expect(wordsOf("HTTPState")).toEqual(["http", "state"]);
  });

  test("the tokens of a text are a name whole when the whole name is known", () => {
    expect(wordsOf("JavaScript")).toEqual(["javascript"]);
  });

  test("the tokens of a text drop a possessive but keep a contraction", () => {
    expect(wordsOf("cat's dog’s")).toEqual(["cat", "dog"]);
    expect(wordsOf("Don’t")).toEqual(["don't"]);
  });

  test("the tokens of a text are characters and pairs of Chinese text", () => {
    expect(wordsOf("数据")).toEqual(["数", "数据", "据"]);
    expect(wordsOf("cat数dog")).toEqual(["cat", "数", "dog"]);
  });

  test("the tokens of a text are the stem of a known word with an ending, and pieces of an unknown one", () => {
    expect(wordsOf("walking dogs")).toEqual(["walk", "dog"]);
    expect(wordsOf("zyx")).toEqual(["piece", "piece"]);
    expect(wordsOf("zy 987654")).toEqual([]);
  });

  test("the tokens of a text read full-width letters and ignore marks that show nothing", () => {
    expect(wordsOf("Ｃａｔ d\u00adog\u200b")).toEqual(["cat", "dog"]);
  });

  test("the tokens of a text do not depend on what was read before", () => {
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

  test("the tokens of a text stop at the bound of a very long text", () => {
    const long = "cat ".repeat(MAX_UNITS);
    expect(embedder.tokensOf(long)).toHaveLength(MAX_UNITS / 4);
    expect(embedder.tokensOf("数".repeat(MAX_UNITS * 2)).length).toBeLessThanOrEqual(2 * MAX_UNITS);
  });
});
