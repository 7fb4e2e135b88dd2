import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCalibrationState } from "../../../src/window/tokens/calibration.ts";
import { SAFETY } from "../../../src/window/tokens/estimate.ts";
import { createGauge } from "../../../src/window/tokens/gauge.ts";

type Gauge = ReturnType<typeof createGauge>;

/** Reports of a provider that counts `factor` tokens per estimated one, plus its own prefix. */
function reported(start: Gauge, factor: number, prefix: number, sizes: readonly number[]): Gauge {
  return sizes.reduce((known, size) => known.observe(size, Math.round(prefix + factor * size)), start);
}

describe("a gauge", () => {
  test("a gauge multiplies estimates by the start factor until the first report, and keeps a margin", () => {
    const start = createGauge({ calibration: createCalibrationState(1.5) });
    expect(start.counted(1_000)).toBe(1_500);
    expect(start.estimatedWithin(1_500)).toBe(Math.floor(1_000 / SAFETY));
  });

  test("a gauge adopts a reported count, including a prompt that was not estimated", () => {
    expect(createGauge().observe(5_000, 22_000).counted(5_000)).toBe(22_000);
  });

  test("a gauge learns the factor of a provider from growth, whatever the prompt", () => {
    const known = reported(createGauge(), 1.4, 20_000, [1_000, 3_000, 6_000, 9_000, 15_000]);
    expect(known.counted(25_000)).toBeGreaterThan(0.99 * (20_000 + 1.4 * 25_000));
    expect(known.counted(25_000)).toBeLessThan(1.01 * (20_000 + 1.4 * 25_000));
  });

  test("a gauge follows a window that shrinks", () => {
    const known = reported(createGauge(), 1.4, 20_000, [1_000, 3_000, 50_000, 90_000]);
    expect(known.counted(10_000) / (20_000 + 14_000)).toBeCloseTo(1, 1);
  });

  test("a gauge scales a report down at most in proportion, even with a wrong factor", () => {
    const wrong = createGauge({ calibration: createCalibrationState(1.7) }).observe(100_000, 100_000);
    expect(wrong.counted(20_000)).toBe(20_000);
  });

  test("a gauge does not learn from small changes or from empty reports", () => {
    const known = createGauge({ calibration: createCalibrationState(1.3) }).observe(10_000, 15_000);
    expect(known.observe(10_050, 15_900).state.calibration).toEqual(known.state.calibration);
    expect(known.observe(12_000, 0).state).toEqual(known.state);
    expect(known.observe(Number.NaN, 10).state).toEqual(known.state);
  });

  test("a gauge continues from its saved state after a restart", () => {
    const known = reported(createGauge(), 1.2, 9_000, [500, 2_000, 8_000]);
    const again = createGauge(JSON.parse(JSON.stringify(known.state)));
    expect(again.counted(12_345)).toBe(known.counted(12_345));
  });

  test("a gauge allows only as many tokens as fit, after any reports", () => {
    const anyReport = fc.tuple(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: 0, max: 2_000_000 }),
    );
    fc.assert(
      fc.property(fc.array(anyReport, { maxLength: 12 }), fc.nat(1_000_000), (reports, tokens) => {
        const known = reports.reduce((at, [size, counted]) => at.observe(size, counted), createGauge());
        const room = known.estimatedWithin(tokens);
        expect(room).toBeGreaterThanOrEqual(0);
        if (room > 0) expect(known.counted(room)).toBeLessThanOrEqual(tokens + 1);
        expect(known.counted(room + 1_000)).toBeGreaterThanOrEqual(known.counted(room));
      }),
    );
  });
});
