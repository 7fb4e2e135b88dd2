import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { ASSUMED_FACTS, buildFlatPrices } from "./assumed-facts.ts";
import { applyRequestedWindow, findKnownModel } from "./known-models.ts";
import type { ModelFacts, Prices } from "./model-data.ts";
import { findRelative } from "./model-relatives.ts";
import { findThinkingRule, type ThinkingRule } from "./thinking-rule.ts";

export { ASSUMED_FACTS } from "./assumed-facts.ts";

/** A source of facts: a maintained package, a provider's list, or the built-in table. */
export type Catalog = (id: string) => ModelFacts | undefined;

/** Facts supplied by the caller. */
export interface FactsOverrides {
  readonly window?: number;
  readonly maxOutput?: number;
  readonly prices?: Partial<Prices>;
  readonly thinking?: ThinkingRule;
}

interface ModelFactsOptions {
  readonly catalogue?: Catalog;
  readonly overrides?: FactsOverrides;
  /** Called with a message for people when facts had to be assumed. */
  readonly onUnknown?: (warning: string) => void;
}

/**
 * The facts of a model: overrides first, then the catalogue, then those of its newest known relative, then cautious
 * assumptions.
 */
export function modelFacts(id: string, options: ModelFactsOptions = {}): ModelFacts {
  checkKind("model", id, "text");
  checkFields("options", options, { catalogue: "function?", overrides: "object?", onUnknown: "function?" });
  const { catalogue = findKnownModel, overrides = {}, onUnknown } = options;
  const found = catalogue(id);
  const relative = found ? undefined : findRelative(id);
  const facts = found ?? (relative ? inheritFacts(relative.facts, id) : ASSUMED_FACTS);
  if (overrides.window === undefined && facts.isWindowAssumed)
    onUnknown?.(buildWarning(id, facts, found !== undefined, relative?.name));
  const thinking = facts.thinking ?? findThinkingRule(id);
  return applyOverrides(thinking ? { ...facts, thinking } : facts, overrides);
}

/** The facts of an unknown model after those of its relative: good enough to plan with, not to report spending. */
function inheritFacts(relative: ModelFacts, id: string): ModelFacts {
  const { thinking: _, ...facts } = applyRequestedWindow(relative, id);
  return { ...facts, arePricesAssumed: true, isWindowAssumed: true };
}

function buildWarning(
  id: string,
  { window, maxOutput }: ModelFacts,
  isFound: boolean,
  relative: string | undefined,
): string {
  if (isFound)
    return `The catalogue does not know the window of model "${id}": ${window} tokens are assumed. Set its window to be exact.`;
  const source = relative === undefined ? "" : `, as of "${relative}"`;
  return `Model "${id}" is not in the catalogue: a window of ${window} and an output of ${maxOutput} tokens are assumed${source}. Set its window, output limit and prices to be exact.`;
}

/** Applies the caller's overrides to facts. */
export function applyOverrides(facts: ModelFacts, overrides: FactsOverrides): ModelFacts {
  const { window, maxOutput = facts.maxOutput, thinking } = overrides;
  const priced = overrides.prices ? applyPrices(facts, overrides.prices) : facts;
  const ruled = thinking ? { ...priced, thinking } : priced;
  if (window === undefined) return { ...ruled, maxOutput };
  const { isWindowAssumed: _, ...known } = ruled;
  return { ...known, window, maxOutput };
}

/** Overridden prices apply to prompts of any length. */
function applyPrices(facts: ModelFacts, prices: Partial<Prices>): ModelFacts {
  const { longPrompt: _, arePricesAssumed, ...rest } = facts;
  const base = arePricesAssumed
    ? buildFlatPrices(prices.input ?? facts.prices.input, prices.output ?? facts.prices.output)
    : facts.prices;
  const isStillAssumed = arePricesAssumed && (prices.input === undefined || prices.output === undefined);
  return { ...rest, prices: { ...base, ...prices }, ...(isStillAssumed && { arePricesAssumed }) };
}
