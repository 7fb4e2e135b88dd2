import type { SectionKey } from "../contract/sections.ts";
import type { SummaryItem } from "../contract/summary-sections.ts";

/** A possible item of a section. */
export interface SummaryCandidate {
  readonly item: SummaryItem;
  /** Lower ranks are chosen first. */
  readonly rank: number;
}

/** The candidates of each section, in display order. */
export type SectionCandidates = Readonly<Record<SectionKey, readonly SummaryCandidate[]>>;

/** Drops candidates that a later one repeats. */
export function dropRepeats(candidates: readonly SummaryCandidate[]): readonly SummaryCandidate[] {
  const seen = new Set<string>();
  return candidates
    .toReversed()
    .filter(({ item }) => {
      const words = item.text.toLowerCase().replace(/[\s"'`.,;:!?。，；：！？]+/g, " ");
      if (seen.has(words)) return false;
      seen.add(words);
      return true;
    })
    .toReversed();
}
