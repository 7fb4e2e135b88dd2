import type { SectionKey } from "../contract/sections.ts";
import type { SummaryItem } from "../contract/summary.ts";

/** A possible item of a section. */
export interface Candidate {
  readonly item: SummaryItem;
  /** Lower ranks are chosen first. */
  readonly rank: number;
}

/** The candidates of each section, in display order. */
export type Candidates = Readonly<Record<SectionKey, readonly Candidate[]>>;

/** Drops candidates that a later one repeats. */
export function withoutRepeats(candidates: readonly Candidate[]): readonly Candidate[] {
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
