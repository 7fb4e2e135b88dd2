import { isCovering, type LineRange } from "../../touch/line-range.ts";
import type { Pass } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import type { ShownContents } from "../shown-contents.ts";
import { getWindowIndex } from "../window-index.ts";
import { stubShownContents } from "./stub-shown-contents.ts";

/** Stubs every file read that a later read repeats, either in full or for at least the same lines. */
export const stubDuplicateReads: Pass = (slots, context) => {
  const { shownContents: showings } = getWindowIndex(slots);
  const repeated = findRepeated(showings);
  if (repeated.size === 0) return [];
  const kept = findProtectedSeqs(slots, context.pins);
  const isNeeded = (showing: ShownContents) =>
    !repeated.has(showing) || kept.has(slots[showing.slot]?.seq ?? -1);
  return stubShownContents(slots, showings, isNeeded, "read again later", context);
};

function findRepeated(showings: readonly ShownContents[]): ReadonlySet<ShownContents> {
  const repeated = new Set<ShownContents>();
  const later = new Map<string, (LineRange | undefined)[]>();
  for (const showing of showings.toReversed()) {
    const ranges = later.get(showing.path) ?? [];
    if (ranges.some((range) => isCovering(range, showing.range))) repeated.add(showing);
    else later.set(showing.path, [...ranges, showing.range]);
  }
  return repeated;
}
