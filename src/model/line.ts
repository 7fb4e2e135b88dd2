import { LonghaulError } from "./errors.ts";
import type { Place } from "./place.ts";

/** A range of one session's log, both ends included. */
export interface SeqRange {
  /** The session of the log; a fork's line begins in the log of the session it was forked from. */
  readonly session: string;
  readonly from: number;
  readonly to: number;
}

/** The active line of a session: its current entries in order. Ranges never overlap. */
export type Line = readonly SeqRange[];

/** Maximum length of a line: each rewind adds at most one range and each replaced message two. */
export const MAX_LINE_RANGES = 10_000;

/** The line of a line entry at `seq` of `session`: its ranges, then everything after the entry. */
export function buildLineAfter(session: string, seq: number, ranges: readonly SeqRange[]): Line {
  return [...ranges, { session, from: seq + 1, to: Number.POSITIVE_INFINITY }];
}

/** Index of the range that contains `seq` of `session`, or -1. */
export function findRangeIndex(line: Line, session: string, seq: number): number {
  return line.findIndex((range) => range.session === session && range.from <= seq && seq <= range.to);
}

/** The line ending now: the open range is closed at `head` and empty ranges are dropped. */
export function closeLine(line: Line, head: number): Line {
  return tidyRanges(
    line.map((range) => (range.to === Number.POSITIVE_INFINITY ? { ...range, to: head } : range)),
  );
}

/** The line up to and including `place`. */
export function keepThrough(line: Line, place: Place): Line {
  const index = requireOnLine(line, place);
  const range = line[index] as SeqRange;
  return tidyRanges([...line.slice(0, index), { ...range, to: place.seq }]);
}

/** The line up to but excluding `place`. */
export function keepBefore(line: Line, place: Place): Line {
  const index = requireOnLine(line, place);
  const range = line[index] as SeqRange;
  return tidyRanges([...line.slice(0, index), { ...range, to: place.seq - 1 }]);
}

/** The line with `place` replaced by `inserted`. */
export function replacePlace(line: Line, place: Place, inserted: Line): Line {
  const index = requireOnLine(line, place);
  const range = line[index] as SeqRange;
  return tidyRanges([
    ...line.slice(0, index),
    { ...range, to: place.seq - 1 },
    ...inserted,
    { ...range, from: place.seq + 1 },
    ...line.slice(index + 1),
  ]);
}

/** The line without the given entries. Throws NOT_ON_LINE if one of them is not on it. */
export function removePlaces(line: Line, places: readonly Place[]): Line {
  const gone = new Map<string, Set<number>>();
  for (const place of places) {
    requireOnLine(line, place);
    gone.set(place.session, (gone.get(place.session) ?? new Set()).add(place.seq));
  }
  return tidyRanges(line.flatMap((range) => cutRange(range, gone.get(range.session))));
}

/** The parts of a range that remain without some of its entries. */
function cutRange(range: SeqRange, gone: ReadonlySet<number> | undefined): Line {
  const inside = [...(gone ?? [])].filter((seq) => range.from <= seq && seq <= range.to);
  if (inside.length === 0) return [range];
  const ends = [range.from - 1, ...inside.sort((a, b) => a - b), range.to + 1];
  return ends.slice(1).map((end, at) => ({ ...range, from: (ends[at] as number) + 1, to: end - 1 }));
}

function requireOnLine(line: Line, place: Place): number {
  const index = findRangeIndex(line, place.session, place.seq);
  if (index < 0) throw createNotOnLineError(place);
  return index;
}

/** The error for an entry that is not on the active line. */
export function createNotOnLineError({ session, seq }: Place): LonghaulError {
  return new LonghaulError(
    "NOT_ON_LINE",
    `Entry ${session}#${seq} is not on the active line; choose a line that holds it first (session.lines()).`,
    { details: { session, seq } },
  );
}

/** Drops empty ranges and merges adjacent ones. */
export function tidyRanges(ranges: Line): Line {
  const tidied: SeqRange[] = [];
  for (const range of ranges) {
    if (range.to < range.from) continue;
    const last = tidied.at(-1);
    if (last?.session === range.session && last.to + 1 === range.from)
      tidied[tidied.length - 1] = { ...last, to: range.to };
    else tidied.push(range);
  }
  if (tidied.length > MAX_LINE_RANGES) {
    throw new LonghaulError(
      "LINE_LIMIT",
      `The line would need ${tidied.length} ranges; at most ${MAX_LINE_RANGES} are kept. Fork the session to go on.`,
    );
  }
  return tidied;
}
