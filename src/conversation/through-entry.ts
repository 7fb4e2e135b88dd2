import type { LineStep, Place, SeqRange } from "../index.ts";

/** The newest of the lines that an entry is on, up to that entry; undefined if it is on none. */
export function throughEntry(
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
