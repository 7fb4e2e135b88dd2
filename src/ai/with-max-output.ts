import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";

/**
 * Limits the output of a call, including reasoning, to `most` tokens; returns the parameters unchanged if `most` is
 * undefined.
 */
export function withMaxOutput(
  params: LanguageModelV4CallOptions,
  most: number | undefined,
): LanguageModelV4CallOptions {
  if (most === undefined) return params;
  // AI SDK providers add the reasoning budget to the requested output.
  const left = Math.max(1, most - findReasoningBudget(params.providerOptions));
  return { ...params, maxOutputTokens: Math.min(params.maxOutputTokens ?? left, left) };
}

function findReasoningBudget(options: LanguageModelV4CallOptions["providerOptions"]): number {
  const budgets = Object.values(options ?? {}).map(({ thinking }) => {
    const isObject = typeof thinking === "object" && thinking !== null && "budgetTokens" in thinking;
    return isObject && typeof thinking.budgetTokens === "number" ? thinking.budgetTokens : 0;
  });
  return Math.max(0, ...budgets);
}
