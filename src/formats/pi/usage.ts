import type { Json, Usage } from "../../index.ts";
import { definedFields, fieldsBesides, numberOf, objectOf } from "../content/fields.ts";

/** Usage of a request; `rest` holds fields that our usage cannot represent. */
export interface PiUsage {
  readonly usage: Usage;
  readonly rest?: { readonly [field: string]: Json };
}

/** Converts the usage of a message or entry; undefined if all of it is zero, which pi writes for unknown usage. */
export function usageOfPi(value: unknown): PiUsage | undefined {
  const fields = objectOf(value);
  if (!fields) return undefined;
  const cost = objectOf(fields.cost);
  const usage = definedFields({
    inputTokens: numberOf(fields.input),
    outputTokens: numberOf(fields.output),
    cacheReadTokens: numberOf(fields.cacheRead),
    cacheWriteTokens: numberOf(fields.cacheWrite),
    cacheWriteHourTokens: numberOf(fields.cacheWrite1h),
    reasoningTokens: numberOf(fields.reasoning),
    cost: numberOf(cost?.total) ?? numberOf(fields.cost),
  });
  if (!Object.values(usage).some((count) => count !== 0)) return undefined;
  const isSum = numberOf(fields.totalTokens) === totalTokensOf(usage);
  const known = [
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "cacheWrite1h",
    "reasoning",
    "cost",
    ...(isSum ? ["totalTokens"] : []),
  ];
  const shares = cost && fieldsBesides(cost, ["total"]);
  const hasShares = Object.values(shares ?? {}).some((share) => share !== 0);
  const others = fieldsBesides(fields, known);
  if (!others && !hasShares) return { usage };
  return { usage, rest: { ...others, ...(shares && hasShares && { cost: shares }) } };
}

/** Computes pi's totalTokens. */
export function totalTokensOf(usage: Usage): number {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
