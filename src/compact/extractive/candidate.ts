import type { SectionKey } from "../contract/sections.ts";
import type { SummaryItem } from "../contract/summary.ts";

/** An item that a section could have. */
export interface Candidate {
  readonly item: SummaryItem;
  /** Lower goes in first. */
  readonly rank: number;
}

/** What the sections could have, each in the order in which it would be shown. */
export type Candidates = Readonly<Record<SectionKey, readonly Candidate[]>>;

/** Leaves out what says the same as something that comes later. */
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
