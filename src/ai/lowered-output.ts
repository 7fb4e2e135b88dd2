import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";

/** The parameters of a call that asks for at most so much output, reasoning included; as they are if undefined. */
export function withMaxOutput(
  params: LanguageModelV4CallOptions,
  most: number | undefined,
): LanguageModelV4CallOptions {
  if (most === undefined) return params;
  // Providers of the AI SDK add the budget for reasoning to the output that is asked for.
  const left = Math.max(1, most - reasoningBudget(params.providerOptions));
  return { ...params, maxOutputTokens: Math.min(params.maxOutputTokens ?? left, left) };
}

function reasoningBudget(options: LanguageModelV4CallOptions["providerOptions"]): number {
  const budgets = Object.values(options ?? {}).map(({ thinking }) => {
    const isObject = typeof thinking === "object" && thinking !== null && "budgetTokens" in thinking;
    return isObject && typeof thinking.budgetTokens === "number" ? thinking.budgetTokens : 0;
  });
  return Math.max(0, ...budgets);
}
