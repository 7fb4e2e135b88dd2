import type { CompactingState } from "../../window/live/compacting.ts";
import type { ModelFacts } from "../../window/models/facts.ts";

/** Share of what it stands for that a summary takes, and the most it takes. */
const SUMMARY_SHARE = 0.2;
const SUMMARY_TOKENS = 2_500;

/**
 * Whether a summary that is not needed yet would pay for itself within the calls that can be expected: what it costs to be
 * made and written to the provider's cache, against what smaller prompts save. A summary without a model costs nothing to
 * make.
 */
export function pays(
  { tokens, expectedCalls, facts, isHot }: CompactingState,
  removableTokens: number,
  summariser: ModelFacts | undefined,
): boolean {
  const summary = Math.min(SUMMARY_TOKENS, removableTokens * SUMMARY_SHARE);
  const saved = removableTokens - summary;
  const making = summariser
    ? removableTokens * summariser.prices.input + summary * summariser.prices.output
    : 0;
  const writing = isHot ? (tokens - saved) * (facts.prices.cacheWrite - facts.prices.cacheRead) : 0;
  return making + writing <= saved * facts.prices.cacheRead * expectedCalls;
}
