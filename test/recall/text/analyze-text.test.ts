import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyzeText, analyzeWord } from "../../../src/recall/text/analyze-text.ts";
import { splitWords } from "../../../src/recall/text/split-words.ts";

const shares = (left: string, right: string) =>
  analyzeText(left).some((term) => analyzeText(right).includes(term));

describe("analyzeText", () => {
  test("analyzeText gives forms of a word the same term, irregular ones included", () => {
    for (const [left, right] of [
      ["running", "ran"],
      ["I bought it", "buying"],
      ["children", "a child"],
      ["went", "going"],
      ["photographs", "photo"],
      ["concatenating", "concatenate"],
      ["studies", "study"],
    ] as const) {
      expect(shares(left, right), `${left} / ${right}`).toBe(true);
    }
  });

  test("analyzeText gives an identifier as a whole and in parts, however it is written", () => {
    expect(analyzeText("getUserName")).toEqual(analyzeText("get_user_name"));
    expect(shares("parseHTTPResponse", "the response")).toBe(true);
    expect(shares("snake_case_value", "snakeCaseValue")).toBe(true);
    expect(analyzeText("resolve_redirects")).toContain("redirect");
  });

  test("analyzeText gives Chinese, Japanese and Korean words of two characters", () => {
    expect(shares("我昨天去了北京天安门", "北京")).toBe(true);
    expect(analyzeText("我昨天去了北京天安门")).toContain("北京");
    expect(analyzeText("東京タワーに行きました")).toContain("東京");
    expect(analyzeText("서울에서 만났어요")).toContain("서울");
    expect(analyzeText("用React写前端")).toEqual(expect.arrayContaining(["react", "前端"]));
  });

  test("analyzeText ignores case, accents and full-width forms", () => {
    expect(analyzeText("Café NAÏVE ＡＢＣ")).toEqual(analyzeText("cafe naive abc"));
  });

  test("analyzeText drops stop words and contractions, and keeps numbers", () => {
    expect(analyzeText("What's the one that I've been told about?")).toEqual(["tell"]);
    expect(analyzeText("on 27 May 2023")).toEqual(["27", "may", "2023"]);
  });

  test("analyzeText gives terms that a simple tokenizer keeps unchanged, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        for (const term of analyzeText(text)) {
          expect(term).not.toBe("");
          expect(term).not.toMatch(/[\s_]/u);
        }
      }),
    );
  });

  test("analyzeText finds the same words as the reference pattern, known or new, even with broken characters", () => {
    const words = fc.constantFrom(
      "don't",
      "o’clock",
      "x_y",
      "_z",
      "q'",
      "𝒳",
      "𠀀𠀁",
      "é",
      "\ud83d",
      "\udc00",
      "北京",
      "→",
      " ",
    );
    const texts = fc.array(fc.oneof(words, fc.string({ unit: "binary", maxLength: 9 })), { maxLength: 60 });
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join("");
        expect(analyzeText(text)).toEqual(splitWords(text).flatMap((word) => analyzeWord(word)));
      }),
      { numRuns: 500 },
    );
  });

  test("analyzeText gives the same terms after its cache has overflowed", () => {
    const many = Array.from({ length: 40_000 }, (_, index) => `worda${index.toString(36)}x`);
    const before = analyzeText(many.slice(0, 50).join(" "));
    analyzeText(many.join(" "));
    expect(analyzeText(many.slice(0, 50).join(" "))).toEqual(before);
  });

  test("analyzeText handles words such as constructor and __proto__", () => {
    expect(analyzeText("constructor __proto__ toString")).toEqual(expect.arrayContaining(["proto"]));
  });
});
