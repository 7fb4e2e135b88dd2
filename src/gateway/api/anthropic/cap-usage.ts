import { objectOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../api.ts";
import { capUsageAt, shrinkCounts, sumOf } from "../usage-cap.ts";

const INPUT = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
const CREATED = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];

/** Where a body, the first event and the last one report usage; the rounds of a reply report theirs inside it. */
const PATHS = [["usage", "iterations"], ["message", "usage", "iterations"], ["usage"], ["message", "usage"]];

/** An event or body with its input tokens, those of the cache included, cut down to `most`; undefined if it has no more. */
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
