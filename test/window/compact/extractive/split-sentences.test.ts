import fc from "fast-check";
import { expect, test } from "vitest";
import {
  splitOuterSentences,
  splitSentences,
} from "../../../../src/window/compact/extractive/split-sentences.ts";

test("sentences come without the marks of headings, lists and quotes, and code blocks have none", () => {
  const text = "# Plan\n- [x] Read it. Then write.\n> 1. Quoted!\n```\nnot this.\n```\n---\nDone?  Yes.";
  expect(splitSentences(text)).toEqual(["Plan", "Read it.", "Then write.", "Quoted!", "Done?", "Yes."]);
});

test("a line is split the same way on its own and between other lines", () => {
  const piece = fc.constantFrom(
    "# ",
    "- ",
    "> ",
    "1. ",
    "* [x] ",
    "a",
    "One. ",
    "Two! ",
    "é。",
    " ",
    "• ",
    "[ ]",
  );
  const line = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      expect(splitSentences(lines.join("\n"))).toEqual(lines.flatMap(splitSentences));
    }),
  );
});

test("a very long text yields the sentences of its beginning and its end", () => {
  const middle = "Filler text of the middle.\n".repeat(20_000);
  const text = `The first one. The second one.\n${middle}The last but one. The last one.`;
  const sentences = splitOuterSentences(text);
  expect(sentences.slice(0, 2)).toEqual(["The first one.", "The second one."]);
  expect(sentences.slice(-2)).toEqual(["The last but one.", "The last one."]);
  expect(sentences.length).toBeLessThan(11_000);
  expect(splitOuterSentences(text.slice(0, 5_000))).toEqual(splitSentences(text.slice(0, 5_000)));
});
