import { parseModelId } from "../../model/model-id.ts";
import { ANTHROPIC_MODELS } from "./anthropic-models.ts";
import { GOOGLE_MODELS } from "./google-models.ts";
import type { ModelFacts } from "./model-data.ts";
import { OPENAI_MODELS } from "./openai-models.ts";

/** The facts of a model, and the name they are listed under. */
export interface NamedFacts {
  readonly name: string;
  readonly facts: ModelFacts;
}

const KNOWN: readonly NamedFacts[] = Object.entries({
  ...ANTHROPIC_MODELS,
  ...OPENAI_MODELS,
  ...GOOGLE_MODELS,
})
  .map(([name, facts]) => ({ name, facts }))
  // Longest first, so that the most specific name wins.
  .sort((one, other) => other.name.length - one.name.length);

/** The window that some tools request with a model id ending in "[1m]". */
const MILLION = 1_000_000;

/** The facts of a common model, regardless of the serving provider and of the date or variant at the end of the id. */
export function findKnownModel(id: string): ModelFacts | undefined {
  const known = findKnownEntry(id);
  return known && applyRequestedWindow(known.facts, id);
}

/** The table entry for a model, ignoring any window that the id requests. */
export function findKnownEntry(id: string): NamedFacts | undefined {
  const { name } = parseModelId(id);
  return KNOWN.find((known) => name.startsWith(known.name) && isVariant(name.slice(known.name.length)));
}

/** Widens the window if the id requests a million tokens. */
export function applyRequestedWindow(facts: ModelFacts, id: string): ModelFacts {
  return parseModelId(id).isMillion ? { ...facts, window: Math.max(facts.window, MILLION) } : facts;
}

/** A date, a tag or a word may follow the name; a short number may not, because it denotes another version. */
function isVariant(rest: string): boolean {
  return /^(?:$|[-@:](?!\d{1,2}(?:\D|$)))/.test(rest);
}
