import { ANTHROPIC_MODELS } from "./anthropic-models.ts";
import type { ModelFacts } from "./facts.ts";
import { GOOGLE_MODELS } from "./google-models.ts";
import { plainModelId } from "./model-id.ts";
import { OPENAI_MODELS } from "./openai-models.ts";

/** Facts, and the name they go by. */
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
  // Longest first, so that the most particular name wins.
  .sort((one, other) => other.name.length - one.name.length);

/** The window that some tools ask for by ending a model's id in "[1m]". */
const MILLION = 1_000_000;

/** The facts of a common model, whoever serves it and whatever date or variant its id ends in. */
export function knownModel(id: string): ModelFacts | undefined {
  const known = findKnown(id);
  return known && withAskedWindow(known.facts, id);
}

/** The entry of our table for a model, without what its id asks for. */
export function findKnown(id: string): NamedFacts | undefined {
  const { name } = plainModelId(id);
  return KNOWN.find((known) => name.startsWith(known.name) && isVariant(name.slice(known.name.length)));
}

/** Facts with the window that an id asks for. */
export function withAskedWindow(facts: ModelFacts, id: string): ModelFacts {
  return plainModelId(id).isMillion ? { ...facts, window: Math.max(facts.window, MILLION) } : facts;
}

/** A date, a tag or a word may follow; a short number may not, for it names another version. */
function isVariant(rest: string): boolean {
  return /^(?:$|[-@:](?!\d{1,2}(?:\D|$)))/.test(rest);
}
