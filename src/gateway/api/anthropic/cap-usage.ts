import { objectOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../api.ts";
import { capUsageAt, shrinkCounts, sumOf } from "../usage-cap.ts";

const INPUT = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
const CREATED = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];

/** Paths of usage in a body and in the first and last event; iterations of a reply report their own inside it. */
const PATHS = [["usage", "iterations"], ["message", "usage", "iterations"], ["usage"], ["message", "usage"]];

/**
 * An event or body with its input tokens, including cached ones, reduced to `most`; undefined if it reports no more.
 */
export function capUsage(data: string, most: number): string | undefined {
  return capUsageAt(data, PATHS, (usage) => capped(usage, most));
}

function capped(usage: JsonObject, most: number): JsonObject | undefined {
  if (sumOf(usage, INPUT) <= most) return undefined;
  const counts = shrinkCounts(usage, INPUT, most);
  const created = objectOf(usage.cache_creation);
  const written = counts.cache_creation_input_tokens;
  return {
    ...usage,
    ...counts,
    ...(created &&
      written !== undefined && {
        cache_creation: { ...created, ...shrinkCounts(created, CREATED, written) },
      }),
  };
}
