import { numberOf, objectOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";

/** Counts that are added up over all rounds. */
const SUMMED = ["output_tokens", "completion_tokens", "cost"];
const INPUT = ["prompt_tokens", "input_tokens"];
const OUTPUT = ["completion_tokens", "output_tokens"];
const DETAILS = ["output_tokens_details", "completion_tokens_details"];

/**
 * Usage of a reply with several rounds: the input of the last round, which includes the earlier ones, and the output of
 * all.
 */
export function joinedUsage(usages: readonly JsonObject[]): JsonObject | undefined {
  const last = usages.at(-1);
  if (!last || usages.length === 1) return last;
  const joined: { [field: string]: unknown } = { ...last, ...sums(usages, SUMMED) };
  for (const name of DETAILS) {
    const inner = usages.map((usage) => objectOf(usage[name]) ?? {});
    const own = objectOf(last[name]);
    if (own) joined[name] = { ...own, ...sums(inner, Object.keys(own)) };
  }
  if (numberOf(last.total_tokens) !== undefined)
    joined.total_tokens = firstOf(joined, INPUT) + firstOf(joined, OUTPUT);
  return joined;
}

/** Sums of those fields that the last report has. */
function sums(counts: readonly JsonObject[], fields: readonly string[]): JsonObject {
  const last = counts.at(-1) ?? {};
  const counted = fields.filter((field) => numberOf(last[field]) !== undefined);
  return Object.fromEntries(
    counted.map((field) => [field, counts.reduce((sum, one) => sum + (numberOf(one[field]) ?? 0), 0)]),
  );
}

function firstOf(counts: JsonObject, fields: readonly string[]): number {
  return fields.map((field) => numberOf(counts[field])).find((count) => count !== undefined) ?? 0;
}
