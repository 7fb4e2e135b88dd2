import { describe, expect, test } from "vitest";
import { createModelCatalog } from "../../../src/window/models/model-catalog.ts";
import { computeBreakEvenCalls } from "../../../src/window/money/break-even.ts";
import { computeCachePrices } from "../../../src/window/session/window-settings.ts";

describe("prices of edits", () => {
  test.each(["house-blend-7", "claude-fable-9"])(
    "an edit never pays for %s, because its prices are assumed",
    (model) => {
      const prices = computeCachePrices(createModelCatalog().getFacts(model));
      const calls = computeBreakEvenCalls({ removedTokens: 500_000, survivingTokens: 1_000, prices });
      expect(calls).toBe(Number.POSITIVE_INFINITY);
    },
  );

  test("an edit pays at the prices of a known model", () => {
    const prices = computeCachePrices(createModelCatalog().getFacts("claude-opus-5-5"));
    expect(prices).toEqual({ read: 0.05, write: 1.25 });
    const calls = computeBreakEvenCalls({ removedTokens: 500_000, survivingTokens: 1_000, prices });
    expect(calls).toBeLessThan(1);
  });
});
