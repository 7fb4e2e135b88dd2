import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Calibration,
  type CalibrationState,
  createCalibration,
  createCalibrationState,
} from "../../../src/window/tokens/calibration.ts";
import { Random } from "../../support/random.ts";

type Report = readonly [estimated: number, reported: number];

/** Requests of a growing session whose reports vary around `factor` with a standard deviation of 2.5 %. */
function reportsOf(factor: number, seed: number, count: number): readonly Report[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, index) => {
    const estimated = 5_000 + index * 700;
    const deviation = 0.025 * (random.next() + random.next() + random.next() - 1.5) * 2;
    return [estimated, Math.round(estimated * factor * (1 + deviation))];
  });
}

function taught(reports: readonly Report[], start = createCalibration()): Calibration {
  return reports.reduce((learned, [estimated, reported]) => learned.observe(estimated, reported), start);
}

/** Mean error of predicting each report before it is seen. */
function meanError(reports: readonly Report[], start: Calibration): number {
  let learned = start;
  let sum = 0;
  for (const [estimated, reported] of reports) {
    sum += Math.abs((estimated * learned.factor) / reported - 1);
    learned = learned.observe(estimated, reported);
  }
  return sum / reports.length;
}

const factors = fc.double({ min: 0.5, max: 2.5, noNaN: true });
const seeds = fc.integer({ min: 0, max: 2 ** 31 });

describe("calibration", () => {
  test("calibration does not change estimates before the first report, and adopts the first report", () => {
    expect(createCalibration().factor).toBe(1);
    expect(createCalibration().observe(1_000, 1_300).factor).toBeCloseTo(1.3);
  });

  test("calibration starts from a known factor, which the first report replaces", () => {
    const expected = createCalibration(createCalibrationState(1.5));
    expect(expected.factor).toBeCloseTo(1.5);
    expect(expected.observe(1_000, 1_300).factor).toBeCloseTo(1.3);
  });

  test("calibration predicts reports within 3 % on average after five reports, for any tokenizer", () => {
    fc.assert(
      fc.property(factors, seeds, (factor, seed) => {
        const reports = reportsOf(factor, seed, 85);
        expect(meanError(reports.slice(5), taught(reports.slice(0, 5)))).toBeLessThan(0.03);
      }),
    );
  });

  test("calibration finds the factor within 3 % even if every tenth report is nonsense", () => {
    fc.assert(
      fc.property(factors, seeds, (factor, seed) => {
        const reports = reportsOf(factor, seed, 60).map(([estimated, reported], index): Report => {
          return index % 10 === 9
            ? [estimated, reported * (index % 20 === 9 ? 1.9 : 0.4)]
            : [estimated, reported];
        });
        const quiet = [...reports, ...reportsOf(factor, seed + 1, 6)];
        expect(Math.abs(taught(quiet).factor / factor - 1)).toBeLessThan(0.03);
      }),
    );
  });

  test("calibration is hardly moved by one report that is far off", () => {
    const settled = taught(reportsOf(1.2, 7, 30));
    const moved = settled.observe(10_000, 40_000);
    expect(Math.abs(moved.factor / settled.factor - 1)).toBeLessThan(0.03);
  });

  test("calibration follows a switch to another model within a few reports", () => {
    const before = taught(reportsOf(1, 3, 50));
    const after = taught(reportsOf(1.5, 4, 10), before);
    expect(Math.abs(after.factor / 1.5 - 1)).toBeLessThan(0.04);
  });

  test("calibration ignores reports that cannot belong to the request", () => {
    const settled = taught(reportsOf(1.2, 7, 10));
    const reports: readonly Report[] = [
      [0, 100],
      [100, 0],
      [-5, 10],
      [100, Number.NaN],
      [Number.POSITIVE_INFINITY, 10],
      [10, Number.POSITIVE_INFINITY],
      [100, 5_000],
    ];
    for (const [estimated, reported] of reports) {
      expect(settled.observe(estimated, reported).state).toEqual(settled.state);
    }
  });

  test("calibration continues from its saved state as if it had never stopped", () => {
    const reports = reportsOf(1.3, 11, 40);
    const saved = JSON.stringify(taught(reports.slice(0, 17)).state);
    const resumed = taught(reports.slice(17), createCalibration(JSON.parse(saved) as CalibrationState));
    expect(resumed.state).toEqual(taught(reports).state);
  });

  test("calibration returns a new object and leaves the old one unchanged", () => {
    const first = createCalibration();
    first.observe(100, 200);
    expect(first.factor).toBe(1);
  });
});
