import { describe, expect, test } from "vitest";
import { createModelCatalog } from "../../../src/window/models/model-catalog.ts";
import { modelFacts } from "../../../src/window/models/model-facts.ts";
import {
  findThinkingRule,
  resolveThinkingRule,
  type ThinkingRule,
} from "../../../src/window/models/thinking-rule.ts";
import type { WireName } from "../../../src/wire/wire.ts";

describe("findThinkingRule", () => {
  test.each<[string, ThinkingRule | undefined]>([
    ["claude-fable-5-2", "bound"],
    ["claude-fable-5.1", "bound"],
    ["us.anthropic.claude-mythos-5-1-v1:0", "bound"],
    ["anthropic/claude-opus-5.5", "bound"],
    ["claude-sonnet-5-5-20260930", "bound"],
    ["claude-haiku-5-5@20261007", "bound"],
    ["claude-opus-5-6", "bound"],
    ["claude-opus-5-10", "bound"],
    ["claude-6-sonnet", "bound"],
    ["claude-saga-1", "bound"],
    ["claude-opus-5", "free"],
    ["claude-sonnet-5-20260301", "free"],
    ["claude-fable-5", "free"],
    ["claude-fable-5-thinking", "free"],
    ["claude-opus-4-8", "free"],
    ["anthropic/claude-4.5-sonnet:beta", "free"],
    ["claude-3-7-sonnet", "free"],
    ["claude-instant-1.2", "free"],
    ["gpt-5.6", "bound"],
    ["openai/gpt-5.6-terra", "bound"],
    ["gpt-6-astra", "bound"],
    ["gpt-6.1-sol-2026-09-29", "bound"],
    ["openai-gpt-6-1-sol", "bound"],
    ["gpt-7", "bound"],
    ["gpt-5.5-pro", "free"],
    ["gpt-5", "free"],
    ["gpt-5-2025-08-07", "free"],
    ["gpt-4o", "free"],
    ["gpt-4-32k", "free"],
    ["o3-pro", "free"],
    ["gemini-3-pro", "free"],
    ["deepseek-v4-pro", "whole"],
    ["deepseek/deepseek-v3.2", "whole"],
    ["kimi-k2.7-code", "whole"],
    ["z-ai/glm-5", "whole"],
    ["house-blend-7", undefined],
    ["claudette-1", undefined],
    ["", undefined],
  ])("the reasoning of %j is %j", (id, rule) => expect(findThinkingRule(id)).toBe(rule));
});

describe("resolveThinkingRule", () => {
  test.each<[ThinkingRule | undefined, WireName | undefined, ThinkingRule]>([
    [undefined, "anthropic", "bound"],
    [undefined, "openai-responses", "bound"],
    [undefined, "openai-chat", "whole"],
    [undefined, "google", "free"],
    [undefined, undefined, "bound"],
    ["free", "anthropic", "free"],
    ["free", "openai-chat", "whole"],
    ["whole", "anthropic", "whole"],
    ["bound", "openai-chat", "bound"],
    ["bound", "google", "bound"],
  ])("a model with the rule %j on the API %j is treated as %j", (rule, wire, resolved) =>
    expect(resolveThinkingRule(rule, wire)).toBe(resolved),
  );
});

describe("facts of a model", () => {
  test("the facts of every recognised model say what becomes of its thinking, also without a catalogue entry", () => {
    expect(modelFacts("claude-opus-5-5").thinking).toBe("bound");
    expect(modelFacts("claude-saga-1").thinking).toBe("bound");
    expect(modelFacts("deepseek-v4-pro", { catalogue: () => undefined }).thinking).toBe("whole");
    expect(modelFacts("house-blend-7").thinking).toBeUndefined();
  });

  test("a catalogue and a user's own setting win over the name", () => {
    const catalogue = (id: string) => ({ ...modelFacts(id), thinking: "whole" as const });
    expect(modelFacts("gpt-6", { catalogue }).thinking).toBe("whole");
    const table = createModelCatalog({ models: { "claude-*": { thinking: "free" } } });
    expect(table.getFacts("claude-opus-5-5").thinking).toBe("free");
  });

  test("an unknown rule in the settings is refused with the rules that exist", () => {
    const models = { "claude-*": { thinking: "toString" as ThinkingRule } };
    expect(() => createModelCatalog({ models })).toThrow(/thinking.*bound, whole, free/);
  });
});
