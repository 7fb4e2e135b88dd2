import type { CompactionState } from "../../window/live/window-compactor.ts";
import type { ModelFacts } from "../../window/models/model-data.ts";

/** Expected size of a summary relative to its source, and its maximum in tokens. */
const SUMMARY_SHARE = 0.2;
const SUMMARY_TOKENS = 2_500;
/** Tokens of the instructions to a model that writes a summary. */
const PROMPT_TOKENS = 1_200;

/** The tokens that a summary is about. */
export interface SummaryPlace {
  /** Tokens of the window that it replaces, and the part of them that is tool calls and their output. */
  readonly removableTokens: number;
  readonly outputTokens: number;
  /** Tokens that a model reads to write it: a summary is made from the log, not from an edited window. */
  readonly sourceTokens: number;
  /** Tokens after it, which have to be written to the cache again. */
  readonly laterTokens: number;
}

/**
 * True if a summary that is not needed yet pays for itself within the expected calls: the cost of making it (a model
 * reads the source and writes the summary) and of writing the window to the provider's cache again, compared with the
 * savings of smaller prompts. Tool output that the policy's extract would replace without a model is no saving of the
 * summary. A summary without a model costs nothing to make.
 */
export function isWorthSummarizing(
  { expectedCalls, facts, isHot, extractShare }: CompactionState,
  { removableTokens, outputTokens, sourceTokens, laterTokens }: SummaryPlace,
  summarizer: ModelFacts | undefined,
): boolean {
  const summary = Math.min(SUMMARY_TOKENS, removableTokens * SUMMARY_SHARE);
  const extracted = summarizer && extractShare !== undefined ? outputTokens * (1 - extractShare) : 0;
  const saved = removableTokens - extracted - summary;
  const making = summarizer
    ? (sourceTokens + PROMPT_TOKENS) * summarizer.prices.input + summary * summarizer.prices.output
    : 0;
  const rewritten = laterTokens + summary;
  const writing = isHot ? rewritten * (facts.prices.cacheWrite - facts.prices.cacheRead) : 0;
  return making + writing <= saved * facts.prices.cacheRead * expectedCalls;
}
