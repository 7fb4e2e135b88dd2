import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lowerOutputFields } from "../../../../src/server/gateway/request/request-fields.ts";

const lowered = (fields: Readonly<Record<string, unknown>>, most: number) =>
  Object.fromEntries(lowerOutputFields(fields, most));

describe("lowerOutputFields", () => {
  test("lowerOutputFields lowers every field that limits the output, and leaves smaller limits", () => {
    expect(lowered({ max_tokens: 9_000 }, 5_000)).toEqual({ max_tokens: 5_000 });
    expect(lowered({ max_completion_tokens: 9_000, max_tokens: 4_000 }, 5_000)).toEqual({
      max_completion_tokens: 5_000,
    });
    expect(lowered({ max_output_tokens: 5_000 }, 5_000)).toEqual({});
    expect(lowered({ temperature: 1 }, 5_000)).toEqual({});
  });

  test("lowerOutputFields keeps budgets for reasoning below the limit, with room for a reply", () => {
    const thinking = { type: "enabled", budget_tokens: 60_000, display: "omitted" };
    expect(lowered({ max_tokens: 64_000, thinking }, 30_000)).toEqual({
      max_tokens: 30_000,
      thinking: { type: "enabled", budget_tokens: 28_976, display: "omitted" },
    });
    expect(
      lowered({ max_tokens: 64_000, thinking: { type: "enabled", budget_tokens: 8_000 } }, 30_000),
    ).toEqual({
      max_tokens: 30_000,
    });
    expect(lowered({ max_tokens: 64_000, reasoning: { max_tokens: 50_000 } }, 10_000)).toEqual({
      max_tokens: 10_000,
      reasoning: { max_tokens: 8_976 },
    });
  });

  test("lowerOutputFields leaves a budget that exceeds the limit already, and a request that cannot ask for less", () => {
    const thinking = { type: "enabled", budget_tokens: 80_000 };
    expect(lowered({ max_tokens: 64_000, thinking }, 30_000)).toEqual({ max_tokens: 30_000 });
    expect(lowered({ max_tokens: 9_000, thinking: { budget_tokens: 8_000 } }, 1_500)).toEqual({});
  });

  test("lowerOutputFields never raises a limit, and keeps the budget below it", () => {
    const count = fc.nat(100_000);
    fc.assert(
      fc.property(count, count, count, (max_tokens, budget_tokens, most) => {
        const fields = { max_tokens, thinking: { type: "enabled", budget_tokens } };
        const after = { ...fields, ...lowered(fields, most) };
        expect(after.max_tokens).toBeLessThanOrEqual(max_tokens);
        expect(after.thinking.budget_tokens).toBeLessThanOrEqual(budget_tokens);
        if (budget_tokens < max_tokens) expect(after.thinking.budget_tokens).toBeLessThan(after.max_tokens);
      }),
    );
  });
});
