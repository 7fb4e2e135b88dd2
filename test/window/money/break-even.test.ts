import { describe, expect, test } from "vitest";
import { computeBreakEvenCalls, estimateRemainingCalls } from "../../../src/window/money/break-even.ts";

const prices = { read: 0.1, write: 1.25 };

describe("the break-even of an edit", () => {
  test("an edit pays off after n* = T·(w−r)/(R·r) − 1 further calls", () => {
    const calls = computeBreakEvenCalls({ removedTokens: 50_000, survivingTokens: 40_000, prices });
    expect(calls).toBeCloseTo((40_000 * 1.15) / (50_000 * 0.1) - 1);
  });

  test("an edit takes longer to pay off if removed content is fetched again", () => {
    const sizes = { removedTokens: 50_000, survivingTokens: 40_000, prices };
    const further = computeBreakEvenCalls({ ...sizes, refetchCost: 10_000 });
    expect(further - computeBreakEvenCalls(sizes)).toBeCloseTo(10_000 / (50_000 * 0.1));
  });

  test("an edit and an unchanged window cost the same at the break-even", () => {
    const [removedTokens, survivingTokens] = [30_000, 60_000];
    const further = computeBreakEvenCalls({ removedTokens, survivingTokens, prices });
    const edited = survivingTokens * prices.write + further * survivingTokens * prices.read;
    const alone = (1 + further) * (removedTokens + survivingTokens) * prices.read;
    expect(edited).toBeCloseTo(alone);
  });

  test("an edit pays off at once where a cache saves nothing, and never where nothing is removed or reads are free", () => {
    const sizes = { removedTokens: 10, survivingTokens: 1_000 };
    expect(computeBreakEvenCalls({ ...sizes, prices: { read: 1, write: 1 } })).toBeLessThanOrEqual(0);
    expect(computeBreakEvenCalls({ ...sizes, removedTokens: 0, prices })).toBe(Number.POSITIVE_INFINITY);
    expect(computeBreakEvenCalls({ ...sizes, prices: { read: 0, write: 1 } })).toBe(Number.POSITIVE_INFINITY);
  });
});

test("a session is expected to make as many further calls as it has made so far", () => {
  expect(estimateRemainingCalls(80)).toBe(80);
});
