import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSdkUsage } from "../../../../src/wire/provider/ai-sdk/parse-sdk-usage.ts";

const nothing = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const silence = { total: undefined, text: undefined, reasoning: undefined };

describe("reported usage", () => {
  test("reported usage is nothing where nothing was reported", () => {
    expect(parseSdkUsage({ inputTokens: nothing, outputTokens: silence })).toBeUndefined();
  });

  test("reported usage leaves out what is not known", () => {
    const inputTokens = { ...nothing, total: 7 };
    expect(parseSdkUsage({ inputTokens, outputTokens: silence })).toEqual({ inputTokens: 7 });
  });

  test("reported usage never counts a token twice, and none below zero", () => {
    const count = fc.option(fc.nat(100_000), { nil: undefined });
    const input = fc.record({ total: count, cacheRead: count, cacheWrite: count });
    fc.assert(
      fc.property(input, (reported) => {
        const { total = 0, cacheRead = 0, cacheWrite = 0 } = reported;
        const usage =
          parseSdkUsage({ inputTokens: { ...reported, noCache: undefined }, outputTokens: silence }) ?? {};
        const sum = (usage.inputTokens ?? 0) + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0);
        expect(sum).toBe(Math.max(total, cacheRead + cacheWrite));
        expect(Math.min(...Object.values(usage), 0)).toBe(0);
      }),
    );
  });

  test("reported usage survives servers that report rubbish", () => {
    const inputTokens = { ...nothing, total: Number.NaN, cacheRead: -3 };
    const raw = { cache_creation: null };
    expect(parseSdkUsage({ inputTokens, outputTokens: silence, raw })).toEqual({ cacheReadTokens: 0 });
  });
});
