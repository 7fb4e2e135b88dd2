import fc from "fast-check";
import { expect, test } from "vitest";
import { isInRanges, joinRanges, type NumberRange, subtractRanges } from "../../src/model/number-ranges.ts";

const MAX = 40;
const ranges = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: MAX }), fc.integer({ min: 0, max: 6 }))
    .map(([from, more]) => [from, from + more] as const),
  { maxLength: 8 },
);
const setOf = (list: readonly NumberRange[]) =>
  new Set(list.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index)));

test("joining and subtracting ranges agree with sets", () => {
  fc.assert(
    fc.property(ranges, ranges, (one, other) => {
      const [left, right] = [joinRanges(one), joinRanges(other)];
      expect(setOf(left)).toEqual(setOf(one));
      const rest = subtractRanges(left, right);
      expect(rest).toEqual(joinRanges(rest));
      expect(setOf(rest)).toEqual(new Set([...setOf(one)].filter((number) => !setOf(other).has(number))));
      for (let number = 0; number < MAX + 8; number++)
        expect(isInRanges(rest, number)).toBe(setOf(rest).has(number));
    }),
  );
});
