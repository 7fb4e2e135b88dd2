import { parseObject, toNumber, toObject } from "../fields.ts";
import type { WireObject } from "../wire.ts";

/** Returns the usage with fewer input tokens; undefined if it is within the limit. */
type UsageCap = (usage: WireObject) => WireObject | undefined;

/**
 * Caps the usage in an event or body, at all given paths; undefined if nothing changes. Most events report no usage and
 * are recognized without parsing.
 */
export function capUsageAtPaths(
  data: string,
  paths: readonly (readonly string[])[],
  cap: UsageCap,
): string | undefined {
  if (!data.includes('_tokens"') && !data.includes('TokenCount"')) return undefined;
  const event = parseObject(data);
  if (!event) return undefined;
  let capped: WireObject = event;
  for (const path of paths) capped = capAt(capped, path, cap) ?? capped;
  return capped === event ? undefined : JSON.stringify(capped);
}

function capAt(
  value: WireObject,
  [field, ...rest]: readonly string[],
  cap: UsageCap,
): WireObject | undefined {
  if (field === undefined) return cap(value);
  const inner = value[field];
  if (Array.isArray(inner)) {
    const capped = inner.map((element) => {
      const object = toObject(element);
      return (object && capAt(object, rest, cap)) ?? element;
    });
    return capped.some((element, index) => element !== inner[index])
      ? { ...value, [field]: capped }
      : undefined;
  }
  const object = toObject(inner);
  const capped = object && capAt(object, rest, cap);
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
  return fields.reduce((total, field) => total + (toNumber(counts[field]) ?? 0), 0);
}
