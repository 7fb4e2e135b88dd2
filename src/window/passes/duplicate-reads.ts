import type { Pass } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { covers, type LineRange } from "../touch/line-range.ts";
import type { Showing } from "../touch/showing.ts";
import { windowIndex } from "../window-index.ts";
import { leaveOutShowings } from "./leave-out-showings.ts";

/** Stubs every file read that a later read repeats, either in full or for at least the same lines. */
export const duplicateReads: Pass = (slots, context) => {
  const kept = protectedSeqs(slots, context.pins);
  const { showings } = windowIndex(slots);
  const repeated = repeatedOf(showings);
  const isNeeded = (showing: Showing) => !repeated.has(showing) || kept.has(slots[showing.slot]?.seq ?? -1);
  return leaveOutShowings(slots, showings, isNeeded, "read again later", context);
};

function repeatedOf(showings: readonly Showing[]): ReadonlySet<Showing> {
  const repeated = new Set<Showing>();
  const later = new Map<string, (LineRange | undefined)[]>();
  for (const showing of showings.toReversed()) {
    const ranges = later.get(showing.path) ?? [];
    if (ranges.some((range) => covers(range, showing.range))) repeated.add(showing);
    else later.set(showing.path, [...ranges, showing.range]);
  }
  return repeated;
}
