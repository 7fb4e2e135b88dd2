import type { CompactingState } from "../../window/live/compacting.ts";
import type { ModelFacts } from "../../window/models/facts.ts";

/** Share of the window that is left after a compaction, as a first guess. */
const LEFT_SHARE = 0.25;
const SUMMARY_TOKENS = 2_500;

/**
 * Whether a summary that is not needed yet would pay for itself within the calls that can be expected: what it costs to be
 * made and written to the provider's cache, against what smaller prompts save. A summary without a model costs nothing to
 * make.
 */
export function pays(state: CompactingState, summariser: ModelFacts | undefined): boolean {
  const { tokens, expectedCalls, facts } = state;
  const left = tokens * LEFT_SHARE;
  const making = summariser
    ? (tokens - left) * summariser.prices.input + SUMMARY_TOKENS * summariser.prices.output
    : 0;
  const writing = state.isHot ? left * (facts.prices.cacheWrite - facts.prices.cacheRead) : 0;
  const saved = (tokens - left) * facts.prices.cacheRead;
  return making + writing <= saved * expectedCalls;
}
