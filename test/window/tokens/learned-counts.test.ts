import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/kernel/index.ts";
import { createCalibrationState } from "../../../src/window/tokens/calibration.ts";
import {
  createGauge,
  estimateMaxCount,
  type LearnedCounts,
  learnCount,
} from "../../../src/window/tokens/gauge.ts";

const fresh = (factor = 1): LearnedCounts => ({
  gauge: createGauge({ calibration: createCalibrationState(factor) }),
});
const learn = (known: LearnedCounts, ...requests: readonly (readonly [number, number])[]): LearnedCounts =>
  requests.reduce((state, [estimated, counted]) => learnCount(state, { estimated, counted }), known);

describe("reported token counts", () => {
  test("a reported count far from the estimate changes nothing, neither first nor later", () => {
    expect(learn(fresh(1.3), [3_000, 185_000]).gauge.counted(3_000)).toBe(3_900);
    const known = learn(fresh(1.3), [2_000, 2_600], [3_000, 3_900]);
    expect(learn(known, [3_500, 185_000]).gauge.counted(4_000)).toBe(known.gauge.counted(4_000));
  });

  test("a reported count that sums the rounds of a provider's own tools is ignored, even if repeated", () => {
    const known = learn(fresh(), [50_000, 50_000], [55_000, 55_000]);
    const later = learn(known, [60_000, 180_000], [61_000, 183_500], [62_000, 130_000], [63_000, 190_000]);
    expect(later.gauge.counted(63_000)).toBe(63_000);
  });

  test("a reported count that stays the same while the request grows is ignored", () => {
    const later = learn(fresh(1.3), [3_000, 185_000], [4_000, 185_000], [5_200, 185_000]);
    expect(later.gauge.counted(5_000)).toBe(6_500);
  });

  test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 1, 200])(
    "a reported count of %d is ignored",
    (counted) => {
      const known = learn(fresh(), [10_000, 11_000]);
      expect(learn(known, [10_500, counted]).gauge.state).toEqual(known.gauge.state);
    },
  );

  test("a reported count of up to twice the estimate is adopted at once", () => {
    for (const ratio of [0.6, 1, 1.5, 2]) {
      const known = learn(fresh(), [40_000, 40_000 * ratio], [44_000, 44_000 * ratio]);
      expect(known.gauge.counted(44_000)).toBe(44_000 * ratio);
    }
  });

  test("a surprising count is adopted once the next one agrees: a hidden prompt, images, another tokenizer", () => {
    const prompt = learn(fresh(1.3), [1_000, 31_300], [1_500, 31_950]);
    expect(prompt.gauge.counted(1_500)).toBe(31_950);
    const finer = learn(fresh(), [40_000, 100_000], [42_000, 105_000]);
    expect(finer.gauge.counted(42_000)).toBe(105_000);
    const day = learn(fresh(), [50_000, 50_000], [52_000, 122_000], [55_000, 129_500], [58_000, 136_000]);
    expect(day.gauge.counted(58_000)).toBe(136_000);
    const changed = learn(fresh(), [50_000, 50_000], [51_000, 120_000], [52_000, 121_300]);
    expect(changed.gauge.counted(52_000)).toBe(121_300);
  });

  test("one reported count never pushes the estimate above the possible maximum", () => {
    const anyRequest = fc.tuple(
      fc.integer({ min: 100, max: 200_000 }),
      fc.integer({ min: -10, max: 5_000_000 }),
    );
    fc.assert(
      fc.property(anyRequest, fc.constantFrom(1, 1.3, 1.7), ([estimated, counted], factor) => {
        const known = learn(fresh(factor), [estimated, counted]);
        expect(known.gauge.counted(estimated)).toBeLessThanOrEqual(2_000 + 2.2 * factor * estimated);
        expect(known.gauge.estimatedWithin(1_000_000)).toBeGreaterThan(0);
      }),
    );
  });

  test("one false count among honest ones does not affect later estimates", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 200, max: 4_000 }), { minLength: 3, maxLength: 12 }),
        fc.double({ min: 0.7, max: 1.9, noNaN: true }),
        fc.nat(11),
        fc.integer({ min: 8, max: 300 }),
        (growth, ratio, at, times) => {
          let estimated = 1_000;
          const honest = growth.map((more) => {
            estimated += more;
            return [estimated, Math.round(estimated * ratio)] as const;
          });
          const [place] = honest[at % honest.length] ?? [0, 0];
          const lied = honest.flatMap((one) =>
            one[0] === place ? [[place, place * times] as const, one] : [one],
          );
          const [plain, after] = [learn(fresh(), ...honest), learn(fresh(), ...lied)];
          expect(after.gauge.counted(estimated)).toBe(plain.gauge.counted(estimated));
        },
      ),
    );
  });
});

describe("the maximum count of a request", () => {
  const said = (parts: Message["parts"]): Message => ({ role: "user", parts });

  test("the maximum count is a few tokens for each estimated one, and more only for content that cannot be estimated", () => {
    const text = said([{ type: "text", text: "Hello." }]);
    expect(estimateMaxCount([text], 3_000, true)).toBeLessThan(20_000);
    expect(estimateMaxCount([text], 3_000, false)).toBeLessThan(70_000);
    const image = said([
      { type: "blob", digest: "sha256:0", mime: "image/png", sizeBytes: 9 } as unknown as Message["parts"][0],
    ]);
    expect(estimateMaxCount([image], 1_500, true)).toBeGreaterThan(40_000);
    const named = {
      type: "raw",
      format: "anthropic",
      value: { type: "document", source: { type: "url" } },
    } as const;
    expect(estimateMaxCount([said([named])], 30, true)).toBeGreaterThan(100_000);
    const searched = { type: "raw", format: "anthropic", value: { type: "web_search_tool_result" } } as const;
    expect(estimateMaxCount([said([searched])], 30, true)).toBeLessThan(3_000);
  });
});
