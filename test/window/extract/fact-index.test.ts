import fc from "fast-check";
import { expect, test } from "vitest";
import { FactIndex } from "../../../src/window/extract/fact-table.ts";

test("the fact index finds what a map would find, also where keys share their lowest bits", () => {
  const key = fc.oneof(
    fc.integer({ min: -20, max: 20 }),
    fc.integer({ min: -8, max: 8 }).map((high) => high * 512),
  );
  const step = fc.record({ key, isAdded: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), fc.nat(600), (steps, others) => {
      const index = new FactIndex();
      const expected = new Map<number, number>();
      const add = (own: number, fact: number) => {
        if (expected.has(own)) return;
        expected.set(own, fact);
        index.add(own, fact);
      };
      for (let other = 0; other < others; other++) add(other * 7_919, other);
      for (const [fact, { key: own, isAdded }] of steps.entries()) {
        if (isAdded) add(own, fact);
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
