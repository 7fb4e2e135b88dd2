import type { Usage } from "../../model/usage.ts";
import { toObject } from "../fields.ts";
import { sumKnownCounts, toCount, toInputCounts, toUsage } from "./usage-counts.ts";

/**
 * Parses Google's usage of generateContent or of an interaction. It counts thoughts, and the tokens that its own tools add
 * to the prompt, separately.
 */
export function parseGoogleUsage(value: unknown): Usage | undefined {
  const report = toObject(value) ?? {};
  const count = (name: string, other: string) => toCount(report[name] ?? report[other]);
  const thoughts =
    count("thoughtsTokenCount", "total_thought_tokens") ?? toCount(report.total_reasoning_tokens);
  const prompt = count("promptTokenCount", "total_input_tokens");
  const used = count("toolUsePromptTokenCount", "total_tool_use_tokens");
  const cached = count("cachedContentTokenCount", "total_cached_tokens");
  return toUsage({
    ...toInputCounts(sumKnownCounts(prompt, used), cached, undefined),
    outputTokens: sumKnownCounts(count("candidatesTokenCount", "total_output_tokens"), thoughts),
    reasoningTokens: thoughts,
  });
}
