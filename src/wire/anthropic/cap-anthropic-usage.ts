import { toObject } from "../fields.ts";
import { capUsageAtPaths, scaleCounts, sumCounts } from "../usage/usage-cap.ts";
import type { WireObject } from "../wire.ts";

const INPUT_COUNTS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
const CREATED_COUNTS = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];

/** Paths of usage in a body and in the first and last event; iterations of a reply report their own inside it. */
const USAGE_PATHS = [
  ["usage", "iterations"],
  ["message", "usage", "iterations"],
  ["usage"],
  ["message", "usage"],
];

/**
 * An event or body with its input tokens, including cached ones, reduced to `most`; undefined if it reports no more.
 */
export function capAnthropicUsage(data: string, most: number): string | undefined {
  return capUsageAtPaths(data, USAGE_PATHS, (usage) => capCounts(usage, most));
}

function capCounts(usage: WireObject, most: number): WireObject | undefined {
  if (sumCounts(usage, INPUT_COUNTS) <= most) return undefined;
  const counts = scaleCounts(usage, INPUT_COUNTS, most);
  const created = toObject(usage.cache_creation);
  const written = counts.cache_creation_input_tokens;
  return {
    ...usage,
    ...counts,
    ...(created &&
      written !== undefined && {
        cache_creation: { ...created, ...scaleCounts(created, CREATED_COUNTS, written) },
      }),
  };
}
