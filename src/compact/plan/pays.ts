import type { CompactingState } from "../../window/live/compacting.ts";
import type { ModelFacts } from "../../window/models/facts.ts";

/** Share of what it stands for that a summary takes, and the most it takes. */
const SUMMARY_SHARE = 0.2;
const SUMMARY_TOKENS = 2_500;

/** Where a summary would stand: what it replaces, and what stays behind it and has to be written to the cache again. */
export interface SummaryPlace {
  readonly removableTokens: number;
  readonly laterTokens: number;
}

/**
 * Whether a summary that is not needed yet would pay for itself within the calls that can be expected: what it costs to be
 * made and written to the provider's cache, against what smaller prompts save. A summary without a model costs nothing to
 * make.
 */
export function pays(
  { expectedCalls, facts, isHot }: CompactingState,
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
