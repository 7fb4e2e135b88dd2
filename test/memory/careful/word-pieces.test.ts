import { describe, expect, test } from "vitest";
import { WordPieces } from "../../../src/memory/careful/word-pieces.ts";

const words = Array.from({ length: 110 }, (_, number) => `[${number}]`);
words.push("cafe", "walk", "##ing", "##s", "don", "'", "t", "中", "国", "!", "un", "##walk");
const pieces = new WordPieces(words);
const numberOf = (word: string) => words.indexOf(word);

describe("word pieces", () => {
  test("fold case and accents and split marks off", () => {
    expect(pieces.encode("Café, DON'T!", 10)).toEqual(
      ["cafe", undefined, "don", "'", "t", "!"].map((word) => (word === undefined ? 100 : numberOf(word))),
    );
  });

  test("take the longest known piece first", () => {
    expect(pieces.encode("walking unwalks", 10)).toEqual(
      ["walk", "##ing", "un", "##walk", "##s"].map(numberOf),
    );
  });

  test("are one unknown token for a word that no pieces make up, or that is too long", () => {
    expect(pieces.encode(`walkx ${"walk".repeat(40)}`, 10)).toEqual([100, 100]);
  });

  test("treat each Chinese character as a word", () => {
    expect(pieces.encode("中国", 10)).toEqual([numberOf("中"), numberOf("国")]);
  });

  test("end at the limit", () => {
    expect(pieces.encode("walking walking", 3)).toHaveLength(3);
  });
});
