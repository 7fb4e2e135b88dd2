import { numberOf, objectOf } from "../../formats/content/fields.ts";
import type { JsonObject } from "../api/api.ts";

/** Fields of the three APIs that limit the output of a request. */
export const OUTPUT_FIELDS: readonly string[] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/** What a reply needs besides its reasoning, and the least reasoning that providers accept. */
const MIN_REPLY_TOKENS = 1_024;
const MIN_BUDGET_TOKENS = 1_024;

/** Where requests say how much of the output may be reasoning: Anthropic's field, and that of OpenRouter. */
const BUDGETS = [
  ["thinking", "budget_tokens"],
  ["reasoning", "max_tokens"],
] as const;

/**
 * The fields of a request that change so that it asks for no more output than `most`; none if it asks for no more, or
 * cannot ask for less. A budget for reasoning stays below the limit where it was below it.
 */
export function lowerOutputFields(fields: JsonObject, most: number): ReadonlyMap<string, unknown> {
  const changed = new Map<string, unknown>();
  const limits = OUTPUT_FIELDS.flatMap((name) => numberOf(fields[name]) ?? []);
  const limit = Math.max(...limits);
  if (!(limit > most)) return changed;
  for (const [field, name] of BUDGETS) {
    const settings = objectOf(fields[field]);
    const budget = numberOf(settings?.[name]);
    // Some ask for more reasoning than output, which spreads over several replies then.
    if (budget === undefined || budget >= limit || budget <= most - MIN_REPLY_TOKENS) continue;
    if (most - MIN_REPLY_TOKENS < MIN_BUDGET_TOKENS) return new Map();
    changed.set(field, { ...settings, [name]: most - MIN_REPLY_TOKENS });
  }
  for (const name of OUTPUT_FIELDS) if ((numberOf(fields[name]) ?? 0) > most) changed.set(name, most);
  return changed;
}
