import type { Usage } from "../../model/usage.ts";

/** Counts of a report; undefined where it has none. */
type UsageCounts = { readonly [Field in keyof Usage]?: Usage[Field] | undefined };

/** Order of counts; imports compare usage with earlier imports as JSON. */
const FIELDS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWriteHourTokens",
  "reasoningTokens",
  "cost",
] as const satisfies readonly (keyof Usage)[];

/** The counts that a report has; undefined if it has none. */
export function toUsage(counts: UsageCounts): Usage | undefined {
  let known: { -readonly [Field in keyof Usage]?: Usage[Field] } | undefined;
  for (const field of FIELDS) {
    const count = counts[field];
    if (count === undefined) continue;
    known ??= {};
    known[field] = count;
  }
  return known;
}

/** The value if it is a count. */
export function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The sum of the counts that are known; undefined if none is. */
export function sumKnownCounts(...counts: readonly (number | undefined)[]): number | undefined {
  let sum: number | undefined;
  for (const count of counts) if (count !== undefined) sum = (sum ?? 0) + count;
  return sum;
}

/** Input counts of APIs that include cached tokens in the input; all but Anthropic's do. */
export function toInputCounts(
  all: number | undefined,
  read: number | undefined,
  written: number | undefined,
): UsageCounts {
  return {
    inputTokens: all === undefined ? undefined : Math.max(0, all - (read ?? 0) - (written ?? 0)),
    cacheReadTokens: read,
    cacheWriteTokens: written,
  };
}
