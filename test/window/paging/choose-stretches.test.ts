import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseStretches, type PageStretch } from "../../../src/window/session/window-pager.ts";

function stretch(score: number, options: Partial<PageStretch> = {}): PageStretch {
  return { score, characters: 400, tokens: 100, isShown: false, ...options };
}

describe("a page", () => {
  test("a page holds related stretches, and leaves out those far below the best", () => {
    const stretches = [stretch(10), stretch(6), stretch(3.5), stretch(2)];
    expect(chooseStretches(stretches, 10_000)).toEqual([0, 1, 2]);
  });

  test("a page never holds a stretch that the window shows", () => {
    const stretches = [stretch(10, { isShown: true }), stretch(9), stretch(8, { isShown: true })];
    expect(chooseStretches(stretches, 10_000)).toEqual([1]);
  });

  test("a page is empty when the window shows the answer and nothing else scores nearly as high", () => {
    const stretches = [stretch(10, { isShown: true }), stretch(5), stretch(4)];
    expect(chooseStretches(stretches, 10_000)).toEqual([]);
  });

  test("a page prefers a short stretch to a long one of nearly the same score", () => {
    const stretches = [stretch(10, { characters: 8_000, tokens: 2_000 }), stretch(9.5)];
    expect(chooseStretches(stretches, 150)).toEqual([1]);
    expect(chooseStretches(stretches, 3_000)).toEqual([1, 0]);
  });

  test("a page beyond its usual size takes only clearly related stretches", () => {
    const clear = Array.from({ length: 60 }, () => stretch(8));
    const vague = Array.from({ length: 60 }, () => stretch(4));
    const chosen = chooseStretches([stretch(10), ...clear, ...vague], 100_000);
    expect(chosen.length).toBe(61);
  });

  test("a page stays within its limit for any stretches", () => {
    const any = fc.record({
      score: fc.double({ min: -1, max: 20, noNaN: true }),
      characters: fc.nat(20_000),
      tokens: fc.integer({ min: 1, max: 5_000 }),
      isShown: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 80 }), fc.nat(20_000), (stretches, maxTokens) => {
        const chosen = chooseStretches(stretches, maxTokens);
        expect(chosen.reduce((sum, index) => sum + (stretches[index]?.tokens ?? 0), 0)).toBeLessThanOrEqual(
          maxTokens,
        );
        expect(new Set(chosen).size).toBe(chosen.length);
        for (const index of chosen) expect(stretches[index]?.isShown).toBe(false);
      }),
    );
  });
});
