import { isUsageCost, isUsageCount, type OtherCall, type Usage } from "../../model/usage.ts";
import { parseObject, toNumber, toObject, toText } from "../fields.ts";
import type { WireObject } from "../wire.ts";

/** Counts of a report; undefined where it has none. */
type UsageCounts = { readonly [Field in (typeof FIELDS)[number]]?: Usage[Field] | undefined };

/** Order of counts; imports compare usage with earlier imports as JSON. */
const FIELDS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWriteHourTokens",
  "reasoningTokens",
  "cost",
  "priceFactor",
  "webSearches",
] as const satisfies readonly (keyof Usage)[];

/** The counts that a report has; undefined if it has none. */
export function toUsage(counts: UsageCounts): Usage | undefined {
  let known: { -readonly [Field in (typeof FIELDS)[number]]?: number } | undefined;
  for (const field of FIELDS) {
    const count = counts[field];
    if (count === undefined) continue;
    known ??= {};
    known[field] = count;
  }
  return known;
}

/** The value as a count; undefined for numbers that no request can have, such as -1 or 1e300. */
export function toCount(value: unknown): number | undefined {
  const count = typeof value === "number" ? Math.ceil(value) : value;
  return isUsageCount(count) ? count : undefined;
}

/** The value if it is an amount of dollars that a request can cost. */
export function toCost(value: unknown): number | undefined {
  return isUsageCost(value) ? value : undefined;
}

/** Fields and values for which providers charge more, as times the list price. */
const SURCHARGES: { readonly [field: string]: { readonly [value: string]: number } } = {
  speed: { fast: 6 },
  service_tier: { priority: 2 },
  inference_geo: { us: 1.1 },
};

/** Tiers for which providers charge less. */
const DISCOUNTS: { readonly [tier: string]: number } = { batch: 0.5, flex: 0.5 };

/**
 * Times the list price that the fields of a request, reply or usage report stand for; undefined if they say nothing about
 * it. A discount counts once the provider has reported it, so that a budget never reserves too little.
 */
export function findPriceFactor(fields: WireObject, isReported = false): number | undefined {
  let factor: number | undefined;
  for (const name in SURCHARGES) {
    const value = toText(fields[name]);
    if (value !== undefined) factor = (factor ?? 1) * (SURCHARGES[name]?.[value] ?? 1);
  }
  const discount = isReported ? DISCOUNTS[toText(fields.service_tier) ?? ""] : undefined;
  return discount === undefined ? factor : (factor ?? 1) * discount;
}

/** Usage with the calls that a provider made for it. */
export function withOtherCalls(
  usage: Usage | undefined,
  otherCalls: readonly OtherCall[],
): Usage | undefined {
  return otherCalls.length === 0 ? usage : { ...usage, otherCalls };
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

/** Returns the usage with at most so many input tokens; undefined if it has no more. */
type UsageCap = (usage: WireObject, most: number) => WireObject | undefined;

/**
 * Caps the usage in an event or body, at all given paths; undefined if nothing changes. Most events report no usage and
 * are recognized without parsing. `parsed` is the data as JSON, if it was parsed before.
 */
export function capUsageAtPaths(
  data: string,
  paths: readonly (readonly string[])[],
  cap: UsageCap,
  most: number,
  parsed?: unknown,
): string | undefined {
  if (!data.includes('_tokens"') && !data.includes('TokenCount"')) return undefined;
  const event = parsed === undefined ? parseObject(data) : toObject(parsed);
  if (!event) return undefined;
  let capped: WireObject = event;
  for (const path of paths) capped = capAt(capped, path, cap, most) ?? capped;
  return capped === event ? undefined : JSON.stringify(capped);
}

function capAt(
  value: WireObject,
  [field, ...rest]: readonly string[],
  cap: UsageCap,
  most: number,
): WireObject | undefined {
  if (field === undefined) return cap(value, most);
  const inner = value[field];
  if (Array.isArray(inner)) {
    const capped = inner.map((element) => {
      const object = toObject(element);
      return (object && capAt(object, rest, cap, most)) ?? element;
    });
    return capped.some((element, index) => element !== inner[index])
      ? { ...value, [field]: capped }
      : undefined;
  }
  const object = toObject(inner);
  const capped = object && capAt(object, rest, cap, most);
  return capped && { ...value, [field]: capped };
}

/** Scales the counts of some fields down proportionally to a sum of `most`; fields without a number are omitted. */
export function scaleCounts(
  counts: WireObject,
  fields: readonly string[],
  most: number,
): { readonly [field: string]: number } {
  const known = fields.flatMap((field) => {
    const count = toNumber(counts[field]);
    return count === undefined ? [] : [[field, count] as const];
  });
  const sum = known.reduce((total, [, count]) => total + count, 0);
  if (sum <= most) return Object.fromEntries(known);
  const shrunk = known.map(([field, count]) => [field, Math.floor((count * most) / sum)] as const);
  const rest = most - shrunk.reduce((total, [, count]) => total + count, 0);
  const largest = shrunk.reduce(
    (best, [, count], index) => (count > (shrunk[best]?.[1] ?? 0) ? index : best),
    0,
  );
  return Object.fromEntries(
    shrunk.map(([field, count], index) => [field, index === largest ? count + rest : count]),
  );
}

export function sumCounts(counts: WireObject, fields: readonly string[]): number {
  let total = 0;
  for (const field of fields) total += toNumber(counts[field]) ?? 0;
  return total;
}
