import { describe, expect, test, vi } from "vitest";
import {
  ANTHROPIC_MODELS,
  findKnownModel,
  GOOGLE_MODELS,
  OPENAI_MODELS,
  OTHER_MODELS,
} from "../../../src/window/models/known-models.ts";
import { computeUsageCost } from "../../../src/window/models/model-catalog.ts";
import type { ModelFacts } from "../../../src/window/models/model-data.ts";
import { ASSUMED_FACTS, modelFacts } from "../../../src/window/models/model-facts.ts";

const ALL = { ...ANTHROPIC_MODELS, ...OPENAI_MODELS, ...GOOGLE_MODELS, ...OTHER_MODELS };

describe("findKnownModel", () => {
  test.each([
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-20250514", "claude-sonnet-4"],
    ["claude-opus-4-1@20250805", "claude-opus-4-1"],
    ["us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"],
    ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"],
    ["openrouter/anthropic/claude-4.5-sonnet:beta", "claude-sonnet-4-5"],
    ["claude-3.7-sonnet", "claude-3-7-sonnet"],
    ["claude-3-5-sonnet-latest", "claude-3-5-sonnet"],
    ["GPT-5-mini-2025-08-07", "gpt-5-mini"],
    ["gpt-5.6-sol", "gpt-5.6"],
    ["gpt-5.1-codex-max", "gpt-5.1"],
    ["openai/o3-pro", "o3-pro"],
    ["models/gemini-2.5-pro-preview-06-05", "gemini-2.5-pro"],
    ["gemini-2.5-flash-lite", "gemini-2.5-flash-lite"],
  ])("findKnownModel knows %s as %s", (id, name) => {
    expect(findKnownModel(id)).toBe(ALL[name]);
  });

  test.each([
    "gpt-5.9",
    "claude-opus-4-99",
    "gpt-50",
    "o30",
    "mistral-large",
    "",
    "__proto__",
    "constructor",
  ])("findKnownModel does not mistake %j for another model", (id) =>
    expect(findKnownModel(id)).toBeUndefined(),
  );

  test("findKnownModel gives a window of a million tokens where an id asks for it", () => {
    expect(findKnownModel("claude-sonnet-4-5[1m]")?.window).toBe(1_000_000);
  });

  test("findKnownModel has plausible limits and prices for every model", () => {
    for (const [name, facts] of Object.entries(ALL)) {
      expect(findKnownModel(name), name).toBe(facts);
      expect(facts.maxOutput, name).toBeLessThan(facts.window);
      for (const prices of [facts.prices, facts.longPrompt?.prices ?? facts.prices]) {
        expect(prices.cacheRead, name).toBeLessThanOrEqual(prices.input);
        expect(prices.input, name).toBeLessThanOrEqual(prices.cacheWrite);
        expect(prices.cacheWrite, name).toBeLessThanOrEqual(prices.cacheWriteHour);
        expect(prices.input, name).toBeLessThan(prices.output);
      }
    }
  });
});

describe("facts of an unknown model", () => {
  test.each([
    ["claude-fable-5-3", "claude-fable-5-2"],
    ["anthropic/claude-opus-5.6", "claude-opus-5-5"],
    ["claude-opus-5-10-20270101", "claude-opus-5-5"],
    ["claude-6-sonnet", "claude-sonnet-5-5"],
    ["claude-opus-4-4", "claude-opus-4-1"],
    ["claude-saga-1", "claude-opus-5-5"],
    ["gpt-6.2-sol", "gpt-6.1-sol"],
    ["gpt-6.1-luna", "gpt-6-luna"],
    ["gpt-6.2-nova", "gpt-6.1-sol"],
    ["gpt-7", "gpt-5.6"],
    ["gemini-5-flash-lite", "gemini-3.5-flash-lite"],
    ["gemini-4-pro", "gemini-3.1-pro"],
    ["deepseek-v5", "deepseek-v4-pro"],
    ["kimi-k4", "kimi-k3"],
    ["glm-6", "glm-5.2"],
  ])("%s is taken after %s, the newest model known of its family", (id, relative) => {
    const onUnknown = vi.fn();
    const { window, maxOutput, prices, longPrompt, cacheMs } = ALL[relative] as ModelFacts;
    const facts = modelFacts(id, { onUnknown });
    expect(facts).toMatchObject({ window, maxOutput, prices, isWindowAssumed: true, arePricesAssumed: true });
    expect([facts.longPrompt, facts.cacheMs]).toEqual([longPrompt, cacheMs]);
    expect(onUnknown).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(`"${relative}"`));
  });

  test("a model that is older than all known ones of its family inherits nothing", () =>
    expect(modelFacts("gpt-3-turbo")).toMatchObject(ASSUMED_FACTS));

  test("an id that asks for a million tokens gets them although the model is unknown", () =>
    expect(modelFacts("claude-opus-4-4[1m]").window).toBe(1_000_000));
});

describe("modelFacts", () => {
  test("modelFacts assumes little of an unknown model, and warns", () => {
    const onUnknown = vi.fn();
    const facts = modelFacts("house-blend-7", { onUnknown });
    expect(facts).toEqual(ASSUMED_FACTS);
    expect(facts).toMatchObject({ window: 128_000, maxOutput: 8_000, arePricesAssumed: true });
    expect(facts.prices.cacheRead).toBe(facts.prices.input);
    expect(onUnknown).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('"house-blend-7"'));
  });

  test("modelFacts does not warn about models that are known or whose window is given", () => {
    const onUnknown = vi.fn();
    modelFacts("claude-opus-4-5", { onUnknown });
    expect(modelFacts("house-blend-7", { onUnknown, overrides: { window: 32_000 } }).window).toBe(32_000);
    expect(onUnknown).not.toHaveBeenCalled();
  });

  test("modelFacts asks the given catalogue instead of its own", () => {
    const own = { ...ASSUMED_FACTS, window: 5_000 };
    expect(modelFacts("claude-opus-4-5", { catalogue: () => own }).window).toBe(5_000);
  });

  test("modelFacts lets each override win separately", () => {
    const facts = modelFacts("claude-opus-4-5", {
      overrides: { maxOutput: 1_000, prices: { cacheRead: 5 } },
    });
    expect(facts).toMatchObject({ window: 200_000, maxOutput: 1_000, prices: { input: 5, cacheRead: 5 } });
  });

  test("modelFacts trusts prices of an unknown model if input and output are given, and assumes no discount for its cache", () => {
    const facts = modelFacts("house-blend-7", { overrides: { prices: { input: 1, output: 2 } } });
    expect(facts.prices).toEqual({ input: 1, output: 2, cacheRead: 1, cacheWrite: 1, cacheWriteHour: 1 });
    expect(facts.arePricesAssumed).toBeUndefined();
    const half = modelFacts("house-blend-7", { overrides: { prices: { input: 1 } } });
    expect(half.arePricesAssumed).toBe(true);
  });

  test("modelFacts applies prices that the user sets to long prompts too", () => {
    const facts = modelFacts("gemini-2.5-pro", { overrides: { prices: { input: 1 } } });
    expect(computeUsageCost({ inputTokens: 1_000_000 }, facts)).toBeCloseTo(1);
  });
});

describe("computeUsageCost", () => {
  test("computeUsageCost charges each kind of token its price", () => {
    const facts = modelFacts("claude-sonnet-4-5");
    const usage = {
      inputTokens: 1_000,
      outputTokens: 2_000,
      cacheReadTokens: 100_000,
      cacheWriteTokens: 10_000,
      cacheWriteHourTokens: 4_000,
    };
    expect(computeUsageCost(usage, facts)).toBeCloseTo(0.003 + 0.03 + 0.03 + 0.0225 + 0.024);
  });

  test("computeUsageCost charges a whole request more when its prompt is long, cached tokens included", () => {
    const facts = modelFacts("gemini-2.5-pro");
    expect(computeUsageCost({ inputTokens: 200_000 }, facts)).toBeCloseTo(0.25);
    expect(computeUsageCost({ inputTokens: 100_000, cacheReadTokens: 200_000 }, facts)).toBeCloseTo(
      0.25 + 0.05,
    );
  });

  test("computeUsageCost charges nothing for empty usage", () =>
    expect(computeUsageCost({}, modelFacts("gpt-5"))).toBe(0));
});
