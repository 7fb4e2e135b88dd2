import { describe, expect, test } from "vitest";
import { genaiPrices } from "../../../src/window/models/genai-prices.ts";
import { findKnownModel } from "../../../src/window/models/known-models.ts";
import { computeUsageCost } from "../../../src/window/models/model-catalog.ts";
import { ASSUMED_FACTS, modelFacts } from "../../../src/window/models/model-facts.ts";

const catalogue = await genaiPrices();

describe("the catalogue of genai-prices", () => {
  test("the catalogue of genai-prices knows the window and cache prices of a model, and takes the output limit from our table", () => {
    expect(catalogue("claude-opus-4-5-20251101")).toEqual({
      window: 200_000,
      maxOutput: 64_000,
      prices: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25, cacheWriteHour: 10 },
    });
  });

  test("the catalogue of genai-prices knows models that are not in our table", () => {
    expect(findKnownModel("grok-4")).toBeUndefined();
    expect(catalogue("grok-4")).toMatchObject({ window: 256_000, prices: { input: 3, cacheRead: 0.75 } });
    expect(catalogue("qwen/qwen3-coder")?.prices.input).toBeGreaterThan(0);
  });

  test("the catalogue of genai-prices includes models that only our table knows", () => {
    expect(catalogue("claude-haiku-5-5")).toBe(findKnownModel("claude-haiku-5-5"));
    expect(catalogue("gpt-6.1-sol")).toBe(findKnownModel("gpt-6.1-sol"));
  });

  test("the catalogue of genai-prices prefers the more specific name", () => {
    expect(catalogue("claude-sonnet-5-5")).toBe(findKnownModel("claude-sonnet-5-5"));
    expect(catalogue("gpt-5-chat-latest")?.window).toBe(128_000);
  });

  test("the catalogue of genai-prices knows a model under the names of all its hosts", () => {
    const plain = catalogue("claude-sonnet-4-5");
    for (const id of ["anthropic/claude-sonnet-4.5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"])
      expect(catalogue(id)).toEqual(plain);
  });

  test("the catalogue of genai-prices charges long prompts at their own prices", () => {
    const facts = modelFacts("gpt-5.4", { catalogue });
    expect(facts.longPrompt?.prices.input).toBe(2 * facts.prices.input);
    expect(computeUsageCost({ inputTokens: 1_000_000 }, facts)).toBe(2 * facts.prices.input);
    expect(computeUsageCost({ inputTokens: 100_000 }, facts)).toBeCloseTo(facts.prices.input / 10);
  });

  test("the catalogue of genai-prices gives a window of a million tokens where an id asks for it", () => {
    expect(catalogue("claude-sonnet-4-5[1m]")?.window).toBe(1_000_000);
  });

  test("the catalogue of genai-prices warns where it knows prices but no window", () => {
    const warnings: string[] = [];
    const facts = modelFacts("mistral-large-latest", { catalogue, onUnknown: (text) => warnings.push(text) });
    expect(facts).toMatchObject({ window: ASSUMED_FACTS.window, isWindowAssumed: true });
    expect(facts.arePricesAssumed).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("does not know the window")]);
  });

  test.each(["", "__proto__", "nobody/knows-this", "gpt-99", "/", "text-embedding-3-small-of-mine"])(
    "the catalogue of genai-prices does not know %j",
    (id) => expect(catalogue(id)).toBeUndefined(),
  );
});
