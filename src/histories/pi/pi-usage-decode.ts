import type { Json, Usage } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toNumber, toObject } from "../../wire/fields.ts";

/** Usage of a request; `rest` holds fields that our usage cannot represent. */
interface PiUsage {
  readonly usage: Usage;
  readonly rest?: { readonly [field: string]: Json };
}

/** Converts the usage of a message or entry; undefined if all of it is zero, which pi writes for unknown usage. */
export function decodePiUsage(value: unknown): PiUsage | undefined {
  const fields = toObject(value);
  if (!fields) return undefined;
  const cost = toObject(fields.cost);
  const usage = dropUndefined({
    inputTokens: toNumber(fields.input),
    outputTokens: toNumber(fields.output),
    cacheReadTokens: toNumber(fields.cacheRead),
    cacheWriteTokens: toNumber(fields.cacheWrite),
    cacheWriteHourTokens: toNumber(fields.cacheWrite1h),
    reasoningTokens: toNumber(fields.reasoning),
    cost: toNumber(cost?.total) ?? toNumber(fields.cost),
  });
  if (!Object.values(usage).some((count) => count !== 0)) return undefined;
  const isSum = toNumber(fields.totalTokens) === sumTokens(usage);
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
  const shares = cost && omitFields(cost, ["total"]);
  const hasShares = Object.values(shares ?? {}).some((share) => share !== 0);
  const others = omitFields(fields, known);
  if (!others && !hasShares) return { usage };
  return { usage, rest: { ...others, ...(shares && hasShares && { cost: shares }) } };
}

/** Computes pi's totalTokens. */
export function sumTokens(usage: Usage): number {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
