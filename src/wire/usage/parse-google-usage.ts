import type { Usage } from "../../model/usage.ts";
import { toObject } from "../fields.ts";
import { sumKnownCounts, toCount, toInputCounts, toUsage } from "./usage-counts.ts";

/** Parses Google's usage. It counts thoughts, and the tokens that its own tools add to the prompt, separately. */
export function parseGoogleUsage(value: unknown): Usage | undefined {
  const report = toObject(value) ?? {};
  const thoughts = toCount(report.thoughtsTokenCount);
  return toUsage({
    ...toInputCounts(
      sumKnownCounts(toCount(report.promptTokenCount), toCount(report.toolUsePromptTokenCount)),
      toCount(report.cachedContentTokenCount),
      undefined,
    ),
    outputTokens: sumKnownCounts(toCount(report.candidatesTokenCount), thoughts),
    reasoningTokens: thoughts,
  });
}
