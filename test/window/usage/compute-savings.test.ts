import { describe, expect, test } from "vitest";
import type { UsageBody } from "../../../src/kernel/faces/log.ts";
import {
  addSavings,
  computeSavings,
  type ModelFacts,
  modelFacts,
  NO_SAVINGS,
} from "../../../src/kernel/faces/window.ts";

const MODEL = "claude-sonnet-4-5";
const facts: ModelFacts = modelFacts(MODEL);
const { input, cacheRead, cacheWrite, output } = facts.prices;
const factsOf = () => facts;

function report(usage: UsageBody["usage"], longhaul: Record<string, number | boolean>): UsageBody {
  return { kind: "usage", usage, model: MODEL, meta: { longhaul } };
}

const dollars = (tokens: number, price: number) => (tokens * price) / 1_000_000;

describe("the savings of a request", () => {
  test("savings count at the price of cached tokens where the provider reported cache reads", () => {
    const usage = { inputTokens: 10, cacheReadTokens: 9_000, cacheWriteTokens: 990, outputTokens: 100 };
    const savings = computeSavings(
      report(usage, { estimatedTokens: 5_000, uneditedTokens: 15_000 }),
      factsOf,
    );
    expect(savings).toMatchObject({
      basis: "estimated",
      requests: 1,
      removedTokens: 20_000,
      extraWriteTokens: 0,
    });
    expect(savings.savedCost).toBeCloseTo(dollars(20_000, cacheRead), 9);
    const cost =
      dollars(10, input) + dollars(9_000, cacheRead) + dollars(990, cacheWrite) + dollars(100, output);
    expect(savings.withoutCost).toBeCloseTo(cost + savings.savedCost, 9);
  });

  test("savings count at the price of input tokens where the provider reported no cache", () => {
    const usage = { inputTokens: 10_000, outputTokens: 1 };
    const sizes = { estimatedTokens: 10_000, uneditedTokens: 30_000 };
    for (const edit of [{}, { priorTokens: 29_000, isHot: true }]) {
      const savings = computeSavings(report(usage, { ...sizes, ...edit }), factsOf);
      expect(savings.savedCost).toBeCloseTo(dollars(20_000, input), 9);
      expect(savings.extraWriteTokens).toBe(0);
    }
  });

  test("savings are negative on the request in which an edit rewrites the cache, and the extra writes are listed", () => {
    const usage = { cacheReadTokens: 2_000, cacheWriteTokens: 8_000, outputTokens: 1 };
    const sizes = { estimatedTokens: 10_000, uneditedTokens: 30_000, priorTokens: 29_000, isHot: true };
    const savings = computeSavings(report(usage, sizes), factsOf);
    const without = dollars(29_000, cacheRead) + dollars(1_000, cacheWrite);
    const own = dollars(2_000, cacheRead) + dollars(8_000, cacheWrite);
    expect(savings.savedCost).toBeCloseTo(without - own, 9);
    expect(savings.savedCost).toBeLessThan(0);
    expect(savings.extraWriteTokens).toBe(7_000);
    expect(savings.extraWriteCost).toBeCloseTo(dollars(7_000, cacheWrite - cacheRead), 9);
  });

  test("savings cover the whole request if the cache had expired anyway", () => {
    const usage = { cacheReadTokens: 0, cacheWriteTokens: 10_000, outputTokens: 1 };
    const sizes = { estimatedTokens: 10_000, uneditedTokens: 30_000, priorTokens: 29_000 };
    const savings = computeSavings(report(usage, sizes), factsOf);
    expect(savings.savedCost).toBeCloseTo(dollars(20_000, cacheWrite), 9);
    expect(savings.extraWriteTokens).toBe(0);
  });

  test("savings fall by the cost of calls for summaries", () => {
    const summary: UsageBody = {
      kind: "usage",
      usage: { inputTokens: 1_000, outputTokens: 500 },
      model: MODEL,
      meta: { longhaul: { isSummary: true } },
    };
    const savings = computeSavings(summary, factsOf);
    const cost = dollars(1_000, input) + dollars(500, output);
    expect(savings).toMatchObject({ requests: 0, summaryCalls: 1 });
    expect(savings.summaryCost).toBeCloseTo(cost, 9);
    expect(addSavings(savings, NO_SAVINGS).savedCost).toBeCloseTo(-cost, 9);
  });

  test("savings are not estimated without the size of a request, nor in dollars without prices", () => {
    const usage = { inputTokens: 10_000 };
    const sizes = { estimatedTokens: 10_000, uneditedTokens: 30_000 };
    expect(computeSavings(report(usage, { estimatedTokens: 10_000 }), factsOf)).toEqual(NO_SAVINGS);
    expect(computeSavings(report(usage, { ...sizes, isUnreliable: true }), factsOf)).toEqual(NO_SAVINGS);
    expect(computeSavings(report({}, sizes), factsOf)).toEqual(NO_SAVINGS);
    const unpriced = computeSavings(report(usage, sizes), () => undefined);
    expect(unpriced).toMatchObject({
      removedTokens: 20_000,
      savedCost: 0,
      withoutCost: 0,
      unpricedRequests: 1,
    });
  });
});
