import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSdkUsage } from "../../../../src/wire/provider/ai-sdk/parse-sdk-usage.ts";

const nothing = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const silence = { total: undefined, text: undefined, reasoning: undefined };

describe("reported usage", () => {
  test("parsing usage of the AI SDK gives undefined without any counts", () => {
    expect(parseSdkUsage({ inputTokens: nothing, outputTokens: silence })).toBeUndefined();
  });

  test("parsing usage of the AI SDK leaves out unknown counts", () => {
    const inputTokens = { ...nothing, total: 7 };
    expect(parseSdkUsage({ inputTokens, outputTokens: silence })).toEqual({ inputTokens: 7 });
  });

  test("parsing usage of the AI SDK never counts a token twice, and never returns a negative count", () => {
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

  test("parsing usage of the AI SDK survives malformed reports", () => {
    const inputTokens = { ...nothing, total: Number.NaN, cacheRead: -3 };
    const raw = { cache_creation: null };
    expect(parseSdkUsage({ inputTokens, outputTokens: silence, raw })).toEqual({ cacheReadTokens: 0 });
  });
});
