import { describe, expect, test } from "vitest";
import { judgePressure, measureGrowth } from "../../../src/kernel/monitor/monitor.ts";

const HOUR = 3_600_000;
const points = (count: number, getValue: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => ({ at: n * 30_000, value: getValue(n) }));

describe("growth", () => {
  test("growth is the slope per hour, and steady if the points lie on a rising line", () => {
    const { perHour, isSteady } = measureGrowth(points(60, (n) => 1e8 + n * 1e6 + (n % 3) * 1e5));
    expect(perHour / 1e6).toBeCloseTo(HOUR / 30_000, 0);
    expect(isSteady).toBe(true);
  });

  test("growth is not steady for a sawtooth, a flat line, a small rise or few points", () => {
    expect(measureGrowth(points(60, (n) => 1e8 + (n % 20) * 5e6)).isSteady).toBe(false);
    expect(measureGrowth(points(60, () => 1e8)).isSteady).toBe(false);
    expect(measureGrowth(points(60, (n) => 1e8 + n * 1e5)).isSteady).toBe(false);
    expect(measureGrowth(points(10, (n) => n * 1e8))).toEqual({ perHour: 0, isSteady: false });
  });
});

describe("pressure", () => {
  const limits = { warningBytes: 500e6, criticalBytes: 1_000e6 };
  test.each([
    [100e6, 4e9, "normal"],
    [500e6, 4e9, "warning"],
    [1_000e6, 4e9, "critical"],
    [110e6, 150e6, "warning"],
    [130e6, 150e6, "critical"],
  ] as const)("pressure of %d bytes with a heap of %d is %s", (used, heapLimitBytes, level) => {
    expect(judgePressure({ usedBytes: used, heapUsedBytes: used, heapLimitBytes }, limits)).toBe(level);
  });
});
