import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lineage } from "../../../src/histories/importing/lineage.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const flat = (stretches: readonly (readonly [number, number])[] | undefined) =>
  stretches?.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

describe("the lineage of a source", () => {
  test("the lineage of a source holds all entries while each follows the one before", () => {
    const lineage = new Lineage();
    for (const seq of [1, 2, 3]) lineage.add(seq);
    expect(lineage.getRanges()).toBeUndefined();
    expect(lineage.signature()).toBe("");
  });

  test("the lineage of a source leaves out abandoned branches", () => {
    const lineage = new Lineage();
    for (const seq of [1, 2, 3, 4]) lineage.add(seq);
    lineage.add(5, 2);
    lineage.add(6);
    expect(flat(lineage.getRanges())).toEqual([1, 2, 5, 6]);
    lineage.add(7, 4);
    expect(flat(lineage.getRanges())).toEqual([1, 2, 3, 4, 7]);
  });

  test("the lineage of a source ends at a rewound entry until another entry follows", () => {
    const lineage = new Lineage();
    for (const seq of [1, 2, 3]) lineage.add(seq);
    lineage.rewind(1);
    expect(flat(lineage.getRanges())).toEqual([1]);
    lineage.add(4);
    expect(flat(lineage.getRanges())).toEqual([1, 4]);
    lineage.rewind(0);
    expect(lineage.getRanges()).toEqual([]);
  });

  test("the lineage of a source replaces an older version of an entry by the newer one, repeatedly", () => {
    const lineage = new Lineage();
    for (const seq of [1, 2, 3]) lineage.add(seq);
    lineage.replace(2, 4);
    lineage.replace(4, 5);
    lineage.touch(3);
    lineage.add(6);
    expect(flat(lineage.getRanges())).toEqual([1, 5, 3, 6]);
    const again = new Lineage(JSON.parse(JSON.stringify(lineage)));
    expect(flat(again.getRanges())).toEqual([1, 5, 3, 6]);
  });

  test("the lineage of a source can be set entry by entry, extended and rewound", () => {
    const lineage = new Lineage();
    for (const seq of [1, 2, 3, 4]) lineage.add(seq);
    lineage.set([4, 1, 2]);
    lineage.add(5);
    expect(flat(lineage.getRanges())).toEqual([4, 1, 2, 5]);
    lineage.rewind(1);
    lineage.add(6);
    expect(flat(lineage.getRanges())).toEqual([4, 1, 6]);
  });

  test("the lineage of a source lists the entries between two entries, newer versions included", () => {
    const lineage = new Lineage();
    for (const seq of [1, 2, 3]) lineage.add(seq);
    lineage.replace(2, 4);
    expect(lineage.getRangesBetween(4, 3)).toEqual([
      [2, 3],
      [4, 4],
    ]);
    expect(lineage.getRangesBetween(3, 1)).toEqual([]);
    expect(lineage.getRangesBetween(1)).toEqual([
      [1, 3],
      [4, 4],
    ]);
  });

  test("the lineage of a source keeps its signature while it only grows", () => {
    const lineage = new Lineage();
    for (const seq of [1, 2, 3]) lineage.add(seq);
    lineage.add(4, 1);
    const before = lineage.signature();
    lineage.add(5);
    expect(lineage.signature()).toBe(before);
    lineage.add(6, 2);
    expect(lineage.signature()).not.toBe(before);
  });

  sizedTest(
    "the lineage of a source agrees with a tree of parents, even after it was saved and loaded",
    () => {
      const step = fc.oneof(
        fc.record({ type: fc.constant("add" as const), parent: fc.option(fc.nat(), { nil: undefined }) }),
        fc.record({ type: fc.constant("rewind" as const), parent: fc.nat() }),
        fc.record({ type: fc.constant("touch" as const), parent: fc.nat() }),
      );
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
          let lineage = new Lineage();
          const parents = new Map<number, number>();
          let tip = 0;
          let isRewound = false;
          let next = 1;
          for (const { type, parent } of steps) {
            const target = parent === undefined ? undefined : next === 1 ? 0 : parent % next;
            if (type === "add") {
              parents.set(next, target ?? tip);
              lineage.add(next, target);
              tip = next++;
              isRewound = false;
            } else if (type === "rewind") {
              tip = target as number;
              isRewound = true;
              lineage.rewind(tip);
            } else if ((target as number) > 0) {
              tip = isRewound ? (target as number) : Math.max(tip, target as number);
              isRewound = false;
              lineage.touch(target as number);
            }
            lineage = new Lineage(JSON.parse(JSON.stringify(lineage)));
          }
          const path: number[] = [];
          for (let at = tip; at > 0; at = parents.get(at) as number) path.unshift(at);
          const all = Array.from({ length: next - 1 }, (_, index) => index + 1);
          expect(flat(lineage.getRanges()) ?? all).toEqual(path);
        }),
        { numRuns: proofRounds(500) },
      );
    },
  );
});
