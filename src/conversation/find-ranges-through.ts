import type { LineStep, Place, SeqRange } from "../log-entry.ts";

/** The ranges of the newest line that contains an entry, up to that entry; undefined if no line contains it. */
export function findRangesThrough(
  lines: readonly Pick<LineStep, "ranges">[],
  { session, seq }: Place,
): readonly SeqRange[] | undefined {
  for (const { ranges } of lines) {
    const index = ranges.findIndex(
      (range) => range.session === session && range.from <= seq && seq <= range.to,
    );
    const last = ranges[index];
    if (last) return [...ranges.slice(0, index), { ...last, to: seq }];
  }
  return undefined;
}
