import { checkFields } from "./argument-checks.ts";
import { createArgumentError } from "./errors.ts";

/**
 * Tokens and money of model calls as reported by a provider or tool. The four token counts never overlap: input
 * excludes tokens read from or written to a cache. Reasoning is part of output.
 */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` with a lifetime of one hour. */
  readonly cacheWriteHourTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars. */
  readonly cost?: number;
  /** Times the list price that the provider charges for fast mode, a priority tier or processing in one region. */
  readonly priceFactor?: number;
  /** Searches by the provider's own web tool, which are paid for apart from tokens. */
  readonly webSearches?: number;
  /** Other calls that the provider made for this one, such as those of an advisor; the counts above exclude them. */
  readonly otherCalls?: readonly OtherCall[];
}

/** A call within a call; without a model it ran on that of the outer call. */
export interface OtherCall extends Omit<Usage, "otherCalls"> {
  readonly model?: string;
}

/** Marks the sum of many requests, which some agents report in place of each: it says nothing about a window. */
export const SUM_META = { longhaul: { isSum: true } } as const;

/** No request has more tokens or costs more: a larger number is a provider's mistake, or forged. */
const MAX_COUNT = 1e9;
const MAX_DOLLARS = 1e6;
const MAX_FACTOR = 100;

const AMOUNTS = ["cost", "priceFactor"] as const;
const COUNTS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWriteHourTokens",
  "reasoningTokens",
  "webSearches",
] as const;

/** True for a number of tokens or searches that a request can have. */
export function isUsageCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COUNT;
}

/** True for an amount of dollars that a request can cost. */
export function isUsageCost(value: unknown): value is number {
  return Number.isFinite(value) && (value as number) >= 0 && (value as number) <= MAX_DOLLARS;
}

/** Returns the usage if its numbers are possible, else throws ARGUMENT_INVALID: forged numbers would spoil every sum. */
export function checkUsage<T extends Usage>(usage: T, option = "usage"): T {
  checkFields(option, usage);
  for (const name of COUNTS)
    if (usage[name] !== undefined && !isUsageCount(usage[name]))
      throw createArgumentError(`${option}.${name}`, usage[name], `a whole number from 0 to ${MAX_COUNT}`);
  for (const name of AMOUNTS) {
    const most = name === "cost" ? MAX_DOLLARS : MAX_FACTOR;
    const value: unknown = usage[name];
    if (value !== undefined && !(isUsageCost(value) && value <= most))
      throw createArgumentError(`${option}.${name}`, value, `a number from 0 to ${most}`);
  }
  if (usage.otherCalls === undefined) return usage;
  if (!Array.isArray(usage.otherCalls))
    throw createArgumentError(`${option}.otherCalls`, usage.otherCalls, "an array");
  for (const call of usage.otherCalls as readonly OtherCall[]) checkUsage(call, `${option}.otherCalls`);
  return usage;
}

/** The counts of a prompt, which do not overlap. */
type PromptCounts = Pick<Usage, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">;

/** Tokens of a prompt, whether read from a cache, written to it or neither. */
export function sumPromptTokens({
  inputTokens = 0,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: PromptCounts): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

/** Share of the prompt tokens that were read from a cache; null without prompt tokens. */
export function computeCacheShare(counts: PromptCounts): number | null {
  const prompt = sumPromptTokens(counts);
  return prompt > 0 ? (counts.cacheReadTokens ?? 0) / prompt : null;
}

/** Tokens in at most four characters: 950, 9.7k, 52k, 1M. */
export function formatTokens(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  if (tokens < 9_950) return `${(tokens / 1_000).toFixed(1).replace(/\.0$/, "")}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1_000)}k`;
  return `${(tokens / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}
