import { isUsageCount } from "../../model/usage.ts";
import { toNumber, toObject } from "../../wire/fields.ts";
import type { WireName, WireObject } from "../../wire/wire.ts";

/** Fields of the three APIs that limit the output of a request. */
export const OUTPUT_FIELDS: readonly string[] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/** The fields that each API itself reads. */
const OWN_FIELDS: Readonly<Record<WireName, readonly string[]>> = {
  anthropic: ["max_tokens"],
  "openai-chat": ["max_completion_tokens", "max_tokens"],
  "openai-responses": ["max_output_tokens"],
};

/**
 * The most output tokens that a request asks for; undefined if it has no limit that its API would follow. A smaller number
 * in another field, or one that no reply can have, does not lower it.
 */
export function findOutputLimit(api: WireName, fields: WireObject): number | undefined {
  const limits = OWN_FIELDS[api].map((name) => fields[name]).filter(isUsageCount);
  return limits.length === 0 ? undefined : Math.max(...limits);
}

/** Minimum tokens of a reply without its reasoning, and minimum reasoning budget that providers accept. */
const MIN_REPLY_TOKENS = 1_024;
const MIN_BUDGET_TOKENS = 1_024;

/** Fields that limit reasoning: Anthropic's and OpenRouter's. */
const REASONING_BUDGETS = [
  ["thinking", "budget_tokens"],
  ["reasoning", "max_tokens"],
] as const;

/**
 * The changed fields that limit the output of a request to `most`; empty if it asks for no more, or cannot ask for
 * less. A reasoning budget below the output limit stays below it.
 */
export function lowerOutputFields(fields: WireObject, most: number): ReadonlyMap<string, unknown> {
  const changed = new Map<string, unknown>();
  const limits = OUTPUT_FIELDS.flatMap((name) => toNumber(fields[name]) ?? []);
  const limit = Math.max(...limits);
  if (!(limit > most)) return changed;
  for (const [field, name] of REASONING_BUDGETS) {
    const settings = toObject(fields[field]);
    const budget = toNumber(settings?.[name]);
    // Some clients ask for more reasoning than output, which then spreads over several replies.
    if (budget === undefined || budget >= limit || budget <= most - MIN_REPLY_TOKENS) continue;
    if (most - MIN_REPLY_TOKENS < MIN_BUDGET_TOKENS) return new Map();
    changed.set(field, { ...settings, [name]: most - MIN_REPLY_TOKENS });
  }
  for (const name of OUTPUT_FIELDS) if ((toNumber(fields[name]) ?? 0) > most) changed.set(name, most);
  return changed;
}
