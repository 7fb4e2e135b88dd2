import { describe, expect, test } from "vitest";
import { computeBootstrapInterval } from "../../../src/kernel/usage/control-report.ts";

/** Evenly spread values around a mean. */
const spread = (count: number, mean: number) =>
  Array.from({ length: count }, (_, index) => mean + (index - (count - 1) / 2) / count);

describe("a bootstrap interval", () => {
  test("a bootstrap interval contains the difference, is the same every time, and narrows with more values", () => {
    const few = computeBootstrapInterval(spread(20, 10), spread(20, 12));
    const many = computeBootstrapInterval(spread(500, 10), spread(500, 12));
    expect(few.difference).toBeCloseTo(2);
    expect(few.low).toBeLessThan(2);
    expect(few.high).toBeGreaterThan(2);
    expect(many.high - many.low).toBeLessThan((few.high - few.low) / 3);
    expect(computeBootstrapInterval(spread(20, 10), spread(20, 12))).toEqual(few);
    // Uniform values of width 1 have a standard deviation of 0.289, so the difference of means has 0.091 at 20 values.
    expect((few.high - few.low) / 2).toBeGreaterThan(1.5 * 0.091);
    expect((few.high - few.low) / 2).toBeLessThan(2.3 * 0.091);
  });

  test("a bootstrap interval of equal values has no width, and there is none without values", () => {
    expect(computeBootstrapInterval([3, 3], [1, 1, 1])).toEqual({ difference: -2, low: -2, high: -2 });
    expect(computeBootstrapInterval([], [1]).low).toBeNaN();
  });
});
