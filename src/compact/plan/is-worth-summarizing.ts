import type { CompactionState } from "../../window/live/window-compactor.ts";
import type { ModelFacts } from "../../window/models/model-data.ts";

/** Expected size of a summary relative to its source, and its maximum in tokens. */
const SUMMARY_SHARE = 0.2;
const SUMMARY_TOKENS = 2_500;

/** The tokens that a summary replaces, and the tokens after it, which have to be written to the cache again. */
export interface SummaryPlace {
  readonly removableTokens: number;
  readonly laterTokens: number;
}

/**
 * True if a summary that is not needed yet pays for itself within the expected calls: the cost of making it and of
 * writing it to the provider's cache, compared with the savings of smaller prompts. A summary without a model costs
 * nothing to make.
 */
export function isWorthSummarizing(
  { expectedCalls, facts, isHot }: CompactionState,
  { removableTokens, laterTokens }: SummaryPlace,
  summariser: ModelFacts | undefined,
): boolean {
  const summary = Math.min(SUMMARY_TOKENS, removableTokens * SUMMARY_SHARE);
  const saved = removableTokens - summary;
  const making = summariser
    ? removableTokens * summariser.prices.input + summary * summariser.prices.output
    : 0;
  const rewritten = laterTokens + summary;
  const writing = isHot ? rewritten * (facts.prices.cacheWrite - facts.prices.cacheRead) : 0;
  return making + writing <= saved * facts.prices.cacheRead * expectedCalls;
}
