import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeUsage, parseUsageReport, REPORTING_APIS } from "../../src/wire/wires.ts";

describe("parseUsageReport", () => {
  test("parseUsageReport reads Anthropic's counts, with separate cache writes for five minutes and an hour", () => {
    const report = {
      input_tokens: 12,
      cache_read_input_tokens: 9_000,
      cache_creation_input_tokens: 700,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 200 },
      output_tokens: 340,
      output_tokens_details: { thinking_tokens: 100 },
      service_tier: "standard",
    };
    expect(parseUsageReport("anthropic", report)).toEqual({
      inputTokens: 12,
      outputTokens: 340,
      cacheReadTokens: 9_000,
      cacheWriteTokens: 700,
      cacheWriteHourTokens: 200,
      reasoningTokens: 100,
    });
  });

  test("parseUsageReport subtracts cached tokens from OpenAI's input", () => {
    expect(
      parseUsageReport("openai-chat", {
        prompt_tokens: 1_000,
        completion_tokens: 50,
        total_tokens: 1_050,
        prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 },
        completion_tokens_details: { reasoning_tokens: 20 },
        cost: 0.01,
      }),
    ).toEqual({
      inputTokens: 100,
      outputTokens: 50,
      cacheReadTokens: 800,
      cacheWriteTokens: 100,
      reasoningTokens: 20,
      cost: 0.01,
    });
    expect(
      parseUsageReport("openai-responses", {
        input_tokens: 1_000,
        input_tokens_details: { cached_tokens: 900 },
        output_tokens: 60,
        output_tokens_details: { reasoning_tokens: 32 },
      }),
    ).toEqual({ inputTokens: 100, cacheReadTokens: 900, outputTokens: 60, reasoningTokens: 32 });
  });

  test("parseUsageReport reads cache hits under another provider's name", () => {
    const report = { prompt_tokens: 100, prompt_cache_hit_tokens: 64, completion_tokens: 5 };
    expect(parseUsageReport("openai-chat", report)).toEqual({
      inputTokens: 36,
      cacheReadTokens: 64,
      outputTokens: 5,
    });
  });

  test("parseUsageReport adds reasoning tokens that are not part of the completion", () => {
    const report = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 45,
      completion_tokens_details: { reasoning_tokens: 30 },
    };
    expect(parseUsageReport("openai-chat", report)).toMatchObject({ outputTokens: 35, reasoningTokens: 30 });
  });

  test("parseUsageReport adds Google's thoughts and tool prompts, and subtracts its cache", () => {
    expect(
      parseUsageReport("google", {
        promptTokenCount: 500,
        toolUsePromptTokenCount: 40,
        cachedContentTokenCount: 300,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 70,
        totalTokenCount: 630,
      }),
    ).toEqual({ inputTokens: 240, cacheReadTokens: 300, outputTokens: 90, reasoningTokens: 70 });
  });

  test.each([undefined, null, 7, "usage", [], {}, { input_tokens: "12" }, { input_tokens: null }])(
    "parseUsageReport finds no usage in %j",
    (report) => {
      for (const api of REPORTING_APIS) expect(parseUsageReport(api, report)).toBeUndefined();
    },
  );

  test("parseUsageReport never returns a negative count", () => {
    fc.assert(
      fc.property(fc.constantFrom(...REPORTING_APIS), fc.anything(), (api, report) => {
        for (const count of Object.values(parseUsageReport(api, report) ?? {}))
          expect(count).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("mergeUsage", () => {
  test("mergeUsage joins the reports at the start and the end of Anthropic's stream", () => {
    const start = parseUsageReport("anthropic", {
      input_tokens: 25,
      cache_read_input_tokens: 4_000,
      output_tokens: 1,
    });
    const end = parseUsageReport("anthropic", { output_tokens: 512 });
    expect(mergeUsage(start, end)).toEqual({ inputTokens: 25, cacheReadTokens: 4_000, outputTokens: 512 });
  });

  test("mergeUsage keeps a count if a later report gives 0", () => {
    expect(mergeUsage({ inputTokens: 25, outputTokens: 1 }, { inputTokens: 0, outputTokens: 9 })).toEqual({
      inputTokens: 25,
      outputTokens: 9,
    });
  });

  test("mergeUsage returns the only report if there is one", () => {
    expect(mergeUsage(undefined, { outputTokens: 3 })).toEqual({ outputTokens: 3 });
    expect(mergeUsage({ outputTokens: 3 }, undefined)).toEqual({ outputTokens: 3 });
    expect(mergeUsage(undefined, undefined)).toBeUndefined();
  });
});
