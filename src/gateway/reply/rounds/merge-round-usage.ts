import { toNumber, toObject } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";

/** Counts that are added up over all rounds. */
const SUMMED_FIELDS = ["output_tokens", "completion_tokens", "cost"];
const INPUT_FIELDS = ["prompt_tokens", "input_tokens"];
const OUTPUT_FIELDS_OF_ROUND = ["completion_tokens", "output_tokens"];
const DETAIL_FIELDS = ["output_tokens_details", "completion_tokens_details"];

/**
 * Usage of a reply with several rounds: the input of the last round, which includes the earlier ones, and the output of
 * all.
 */
export function mergeRoundUsage(usages: readonly WireObject[]): WireObject | undefined {
  const last = usages.at(-1);
  if (!last || usages.length === 1) return last;
  const joined: { [field: string]: unknown } = { ...last, ...sumFields(usages, SUMMED_FIELDS) };
  for (const name of DETAIL_FIELDS) {
    const inner = usages.map((usage) => toObject(usage[name]) ?? {});
    const own = toObject(last[name]);
    if (own) joined[name] = { ...own, ...sumFields(inner, Object.keys(own)) };
  }
  if (toNumber(last.total_tokens) !== undefined)
    joined.total_tokens = findFirst(joined, INPUT_FIELDS) + findFirst(joined, OUTPUT_FIELDS_OF_ROUND);
  return joined;
}

/** Sums of those fields that the last report has. */
function sumFields(counts: readonly WireObject[], fields: readonly string[]): WireObject {
  const last = counts.at(-1) ?? {};
  const counted = fields.filter((field) => toNumber(last[field]) !== undefined);
  return Object.fromEntries(
    counted.map((field) => [field, counts.reduce((sum, one) => sum + (toNumber(one[field]) ?? 0), 0)]),
  );
}

function findFirst(counts: WireObject, fields: readonly string[]): number {
  return fields.map((field) => toNumber(counts[field])).find((count) => count !== undefined) ?? 0;
}
