import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detectOutputOverflow, detectOverflow } from "../../../src/window/limits/overflow.ts";
import { computeOutputLeft, removeImpossibleCounts } from "../../../src/window/session/heal-window.ts";

const message = "too long";

describe("computeOutputLeft", () => {
  test("computeOutputLeft subtracts the prompt from the limit that the provider names", () => {
    const overflow = { message, limitTokens: 64_000, requestedTokens: 66_163, outputTokens: 63_900 };
    const left = computeOutputLeft({
      overflow,
      promptTokens: 2_000,
      requestedOutputTokens: undefined,
      window: 200_000,
    });
    expect(left).toBe(61_737);
  });

  test("computeOutputLeft subtracts the prompt from the known window where the provider gives no numbers", () => {
    const known = { overflow: { message }, promptTokens: 20_000, window: 128_000 };
    expect(computeOutputLeft({ ...known, requestedOutputTokens: 120_000 })).toBe(108_000);
    expect(computeOutputLeft({ ...known, requestedOutputTokens: 8_000 })).toBeUndefined();
    expect(computeOutputLeft({ ...known, requestedOutputTokens: undefined })).toBeUndefined();
  });

  test("computeOutputLeft returns undefined where the prompt is too long or leaves no room for a reply", () => {
    const told = (input: number) => ({
      message,
      limitTokens: 64_000,
      requestedTokens: input + 8_000,
      outputTokens: 8_000,
    });
    const rest = { promptTokens: 1, requestedOutputTokens: 8_000, window: 200_000 };
    expect(computeOutputLeft({ overflow: told(70_000), ...rest })).toBeUndefined();
    expect(computeOutputLeft({ overflow: told(63_500), ...rest })).toBeUndefined();
    expect(computeOutputLeft({ overflow: told(60_000), ...rest })).toBe(4_000);
  });

  test("computeOutputLeft always fits next to the prompt, and is less than the requested output", () => {
    const tokens = fc.nat(400_000);
    fc.assert(
      fc.property(tokens, tokens, tokens, (limitTokens, input, outputTokens) => {
        const overflow = { message, limitTokens, requestedTokens: input + outputTokens, outputTokens };
        const left = computeOutputLeft({
          overflow,
          promptTokens: 0,
          requestedOutputTokens: undefined,
          window: 400_000,
        });
        if (left === undefined) return;
        expect(left + input).toBeLessThanOrEqual(limitTokens);
        expect(left).toBeLessThan(outputTokens);
        expect(left).toBeGreaterThanOrEqual(1_024);
      }),
    );
  });
});

test("a requested output larger than the window is not reported as an overflow of the messages", () => {
  const failure = {
    status: 400,
    message:
      "'max_tokens' or 'max_completion_tokens' is too large: 70000. This model's maximum context length is 64000 tokens and your request has 2263 input tokens",
  };
  expect(detectOverflow(failure)).toBeUndefined();
  expect(detectOutputOverflow(failure)).toMatchObject({ limitTokens: 64_000, outputTokens: 70_000 });
});

describe("removeImpossibleCounts", () => {
  const sent = { estimated: 3_000, maxTokens: 17_000, requestedOutputTokens: undefined };

  test("removeImpossibleCounts keeps numbers that are possible for the request", () => {
    for (const overflow of [
      { message, requestedTokens: 4_000, limitTokens: 3_500 },
      { message, requestedTokens: 12_000, outputTokens: 8_000, limitTokens: 8_192 },
      { message, limitTokens: 4_096 },
      { message },
    ])
      expect(removeImpossibleCounts(overflow, sent)).toEqual(overflow);
  });

  test("removeImpossibleCounts removes numbers that are impossible for the request", () => {
    for (const overflow of [
      { message, requestedTokens: 300_000, limitTokens: 200_000 },
      { message, requestedTokens: 500, limitTokens: 400 },
      { message, requestedTokens: 4_000, limitTokens: 10 },
      { message, limitTokens: 200_000 },
    ])
      expect(removeImpossibleCounts(overflow, sent)).toEqual({ message });
  });
});
