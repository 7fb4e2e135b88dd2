import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeWeight } from "../../../src/log/store/postings.ts";
import { IndexTail } from "../../../src/recall/index/index-tail.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

sizedTest("the tail gives the same places and weights of a term as full postings", () => {
  const lists = fc.array(fc.array(fc.nat(12), { maxLength: 20 }), { maxLength: 40 });
  fc.assert(
    fc.property(lists, fc.nat(3), (chunks, gap) => {
      const tail = new IndexTail(8_192);
      const expected = new Map<number, number[]>();
      chunks.forEach((list, index) => {
        const place = index * (gap + 1);
        tail.add({ number: 8_192 + place, source: index + 1, terms: Uint32Array.from(list) });
        for (const term of new Set(list)) {
          const count = list.filter((one) => one === term).length;
          expected.set(term, [...(expected.get(term) ?? []), place, encodeWeight(count, list.length)]);
        }
        expect(tail.sourceAt(place)).toBe(index + 1);
      });
      // The later rounds read postings.
      for (let round = 0; round < 20; round++)
        for (let term = 0; term <= 13; term++) expect(tail.pairsOf(term)).toEqual(expected.get(term) ?? []);
      tail.add({ number: 9_192, source: 1, terms: Uint32Array.of(3, 99, 3) });
      expect(tail.pairsOf(3)).toEqual([...(expected.get(3) ?? []), 1_000, encodeWeight(2, 3)]);
    }),
    { numRuns: proofRounds(100) },
  );
});

test("the tail grows beyond two segments and finds a term in its last chunk", () => {
  const tail = new IndexTail(0);
  const terms = Uint32Array.from({ length: 40 }, (_, index) => index);
  for (let number = 0; number < 20_000; number++) tail.add({ number, source: 7, terms });
  tail.add({ number: 30_000, source: 9, terms: Uint32Array.of(99) });
  expect(tail.pairsOf(99)).toEqual([30_000, encodeWeight(1, 1)]);
  expect(tail.sourceAt(30_000)).toBe(9);
  expect(tail.sourceAt(40_000)).toBe(0);
  expect(tail.pairsOf(5)).toHaveLength(40_000);
});
