import { numberOf, objectOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../api.ts";
import { capUsageAt, shrinkCounts } from "../usage-cap.ts";

/** Paths of usage in bodies and chunks, in the last events of Responses, and at compatible servers. */
const PATHS = [["usage"], ["response", "usage"], ["x_groq", "usage"], ["choices", "usage"]];

const DETAILS = ["prompt_tokens_details", "input_tokens_details"];
const CACHED = ["cached_tokens", "cache_write_tokens"];
/** Counts of cached and uncached input next to the sum. */
const BESIDE = ["prompt_cache_hit_tokens", "prompt_cache_miss_tokens"];

/**
 * An event or body with its input tokens, sums as well as parts, reduced to `most`; undefined if it reports no more.
 */
export function capUsage(data: string, most: number): string | undefined {
  return capUsageAt(data, PATHS, (usage) => capped(usage, most));
}

function capped(usage: JsonObject, most: number): JsonObject | undefined {
  const field = numberOf(usage.prompt_tokens) === undefined ? "input_tokens" : "prompt_tokens";
  const input = numberOf(usage[field]) ?? 0;
  if (input <= most) return undefined;
  const total = numberOf(usage.total_tokens);
  const details = DETAILS.flatMap((name) => {
    const inner = objectOf(usage[name]);
    return inner ? [[name, { ...inner, ...shrinkCounts(inner, CACHED, most) }] as const] : [];
  });
  return {
    ...usage,
    ...shrinkCounts(usage, BESIDE, most),
    ...Object.fromEntries(details),
    [field]: most,
    ...(total !== undefined && { total_tokens: Math.max(most, total - (input - most)) }),
  };
}
