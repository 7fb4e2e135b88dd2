import { toNumber, toObject } from "../fields.ts";
import { capUsageAtPaths, scaleCounts } from "../usage/usage-counts.ts";
import type { WireObject } from "../wire.ts";

/** Paths of usage in bodies and chunks, in the last events of Responses, and at compatible servers. */
const USAGE_PATHS = [["usage"], ["response", "usage"], ["x_groq", "usage"], ["choices", "usage"]];

const DETAIL_FIELDS = ["prompt_tokens_details", "input_tokens_details"];
const CACHED_COUNTS = ["cached_tokens", "cache_write_tokens"];
/** Counts of cached and uncached input next to the sum. */
const CACHE_COUNTS = ["prompt_cache_hit_tokens", "prompt_cache_miss_tokens"];

/**
 * An event or body with its input tokens, sums as well as parts, reduced to `most`; undefined if it reports no more.
 */
export function capOpenaiUsage(data: string, most: number, parsed?: unknown): string | undefined {
  return capUsageAtPaths(data, USAGE_PATHS, capCounts, most, parsed);
}

function capCounts(usage: WireObject, most: number): WireObject | undefined {
  const field = toNumber(usage.prompt_tokens) === undefined ? "input_tokens" : "prompt_tokens";
  const input = toNumber(usage[field]) ?? 0;
  if (input <= most) return undefined;
  const total = toNumber(usage.total_tokens);
  const details = DETAIL_FIELDS.flatMap((name) => {
    const inner = toObject(usage[name]);
    return inner ? [[name, { ...inner, ...scaleCounts(inner, CACHED_COUNTS, most) }] as const] : [];
  });
  return {
    ...usage,
    ...scaleCounts(usage, CACHE_COUNTS, most),
    ...Object.fromEntries(details),
    [field]: most,
    ...(total !== undefined && { total_tokens: Math.max(most, total - (input - most)) }),
  };
}
