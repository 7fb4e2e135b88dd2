import type { Line, SeqRange } from "../../model/line.ts";
import type { Place } from "../../model/place.ts";

/** A stretch of places on a line, both ends included. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

interface PlacedRange {
  readonly range: SeqRange;
  /** Place of the range's first entry. */
  readonly start: number;
}

/**
 * Numbers the entries of a line consecutively: 1, 2, 3… In a session that was never rewound or forked, an entry's place
 * is its seq. Places stay the same while the line only grows.
 */
export class LinePlaces {
  readonly #ranges: readonly PlacedRange[];

  constructor(line: Line) {
    let start = line[0]?.from ?? 1;
    this.#ranges = line.map((range) => {
      const placed = { range, start };
      start += range.to - range.from + 1;
      return placed;
    });
  }

  /** The place of an entry; undefined if it is not on the line. */
  findPlace({ session, seq }: Place): number | undefined {
    for (const { range, start } of this.#ranges)
      if (range.session === session && range.from <= seq && seq <= range.to) return start + seq - range.from;
    return undefined;
  }

  /** The entry at a place. */
  findEntry(place: number): Place | undefined {
    for (const { range, start } of this.#ranges)
      if (start <= place && place <= start + range.to - range.from)
        return { session: range.session, seq: range.from + place - start };
    return undefined;
  }

  /** Converts ranges of entries to stretches of the line; entries that are not on the line are dropped. */
  toStretches(ranges: readonly SeqRange[]): readonly Stretch[] {
    return ranges
      .flatMap((wanted) =>
        wanted.to < wanted.from ? this.#toEmptyStretch(wanted) : this.#splitRange(wanted),
      )
      .sort((a, b) => a.from - b.from);
  }

  /** Converts a stretch of the line to ranges of entries; an empty stretch becomes an empty range. */
  toRanges({ from, to }: Stretch): readonly SeqRange[] {
    if (to < from) {
      const place = this.findEntry(from);
      return place ? [{ session: place.session, from: place.seq, to: place.seq - 1 }] : [];
    }
    return this.#ranges.flatMap(({ range, start }) => {
      const first = Math.max(from, start);
      const last = Math.min(to, start + range.to - range.from);
      const shift = range.from - start;
      return first > last ? [] : [{ session: range.session, from: first + shift, to: last + shift }];
    });
  }

  #toEmptyStretch({ session, from }: SeqRange): readonly Stretch[] {
    const place = this.findPlace({ session, seq: from });
    return place === undefined ? [] : [{ from: place, to: place - 1 }];
  }

  #splitRange(wanted: SeqRange): readonly Stretch[] {
    return this.#ranges.flatMap(({ range, start }) => {
      if (range.session !== wanted.session) return [];
      const first = Math.max(wanted.from, range.from);
      const last = Math.min(wanted.to, range.to);
      const shift = start - range.from;
      return first > last ? [] : [{ from: first + shift, to: last + shift }];
    });
  }
}

/** The gaps between stretches within `whole`; the stretches may overlap. */
export function findGaps(stretches: readonly Stretch[], whole: Stretch): readonly Stretch[] {
  const gaps: Stretch[] = [];
  let next = whole.from;
  for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
    if (to < from) continue;
    if (from > next) gaps.push({ from: next, to: Math.min(from - 1, whole.to) });
    next = Math.max(next, to + 1);
  }
  if (next <= whole.to) gaps.push({ from: next, to: whole.to });
  return gaps.filter(({ from, to }) => from <= to);
}
