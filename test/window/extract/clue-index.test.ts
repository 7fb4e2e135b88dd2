import fc from "fast-check";
import { expect, test } from "vitest";
import { ClueIndex } from "../../../src/window/extract/clue-table.ts";

test("the clue index finds what a map would find, also where keys share their lowest bits", () => {
  const key = fc.oneof(
    fc.integer({ min: -20, max: 20 }),
    fc.integer({ min: -8, max: 8 }).map((high) => high * 512),
  );
  const step = fc.record({ key, isAdded: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), fc.nat(600), (steps, others) => {
      const index = new ClueIndex();
      const expected = new Map<number, number>();
      const add = (own: number, clue: number) => {
        if (expected.has(own)) return;
        expected.set(own, clue);
        index.add(own, clue);
      };
      for (let other = 0; other < others; other++) add(other * 7_919, other);
      for (const [clue, { key: own, isAdded }] of steps.entries()) {
        if (isAdded) add(own, clue);
        else {
          expected.delete(own);
          index.delete(own);
        }
      }
      const sought = [...steps.map(({ key: own }) => own), ...expected.keys()];
      expect(sought.filter((own) => index.find(own) !== expected.get(own))).toEqual([]);
    }),
  );
});
