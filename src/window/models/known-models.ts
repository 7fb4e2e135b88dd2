import { ANTHROPIC_MODELS } from "./anthropic-models.ts";
import type { ModelFacts } from "./facts.ts";
import { GOOGLE_MODELS } from "./google-models.ts";
import { plainModelId } from "./model-id.ts";
import { OPENAI_MODELS } from "./openai-models.ts";

const KNOWN = new Map<string, ModelFacts>([
  ...Object.entries(ANTHROPIC_MODELS),
  ...Object.entries(OPENAI_MODELS),
  ...Object.entries(GOOGLE_MODELS),
]);

/** Longest first, so that the most particular name wins. */
const NAMES = [...KNOWN.keys()].sort((one, other) => other.length - one.length);

/** The window that some tools ask for by ending a model's id in "[1m]". */
const MILLION = 1_000_000;

/** The facts of a common model, whoever serves it and whatever date or variant its id ends in. */
export function knownModel(id: string): ModelFacts | undefined {
  const { name, isMillion } = plainModelId(id);
  const match = NAMES.find((known) => name.startsWith(known) && isVariant(name.slice(known.length)));
  const facts = match === undefined ? undefined : KNOWN.get(match);
  return facts && isMillion ? { ...facts, window: Math.max(facts.window, MILLION) } : facts;
}

/** A date, a tag or a word may follow; a short number may not, for it names another version. */
function isVariant(rest: string): boolean {
  return /^(?:$|[-@:](?!\d{1,2}(?:\D|$)))/.test(rest);
}
