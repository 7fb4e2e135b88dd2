import { expect, test } from "vitest";
import { listSearchTerms } from "../../../src/recall/index-search.ts";

test("each term of a question is searched once", () => {
  expect(listSearchTerms("port port staging")).toEqual(listSearchTerms("port staging"));
});

test("a pasted document is searched by its most frequent terms", () => {
  const words = Array.from({ length: 300 }, (_, index) => `word${index}x`);
  const terms = listSearchTerms([...words, "harbor harbor harbor"].join(" "));
  expect(terms).toHaveLength(96);
  expect(terms).toContain(listSearchTerms("harbor")[0]);
});
