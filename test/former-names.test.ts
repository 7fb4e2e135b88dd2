import { expect, test } from "vitest";
import { buildSummaryPrompt } from "../src/window/compact/contract/summary-prompt.ts";
import { extractSummary } from "../src/window/compact/extractive/extract-summary.ts";

const source = Array.from({ length: 40 }, (_, index) => ({
  seq: index + 1,
  at: index,
  message: {
    role: "user" as const,
    parts: [
      { type: "text" as const, text: `Never change src/part-${index}.ts before review ${index} is over.` },
    ],
  },
}));

test("budgetTokens, the former name of maxTokens, still limits summaries", () => {
  const extracted = extractSummary(source, { maxTokens: 400 });
  expect(extractSummary(source, { budgetTokens: 400 })).toEqual(extracted);
  expect(extractSummary(source, { maxTokens: 400, budgetTokens: 4_000 })).toEqual(extracted);
  expect(() => extractSummary(source, {})).toThrow(/^maxTokens is NaN/);
});

test("{{budget}}, the former name of {{limit}}, is still filled in templates of summaries", () => {
  const prompt = (template: string) =>
    buildSummaryPrompt({ transcript: "…", maxTokens: 700, template: `${template}{{conversation}}` }).user;
  expect(prompt("{{budget}}")).toContain("Use at most 700 tokens.");
  expect(prompt("{{budget}}")).toBe(prompt("{{limit}}"));
});
