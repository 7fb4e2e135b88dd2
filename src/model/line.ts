import { checkList } from "./argument-checks.ts";
import { checkWholeNumber, createArgumentError, LonghaulError } from "./errors.ts";
import { isInRanges, joinRanges, type NumberRange, subtractRanges } from "./number-ranges.ts";
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

/** Tells whether one of the ranges contains the entry at `seq` of `session`. */
export function hasSeq(ranges: Line, { session, seq }: Place): boolean {
  return findRangeIndex(ranges, session, seq) !== -1;
}

/** The line ending now: the open range is closed at `head` and empty ranges are dropped. */
export function closeLine(line: Line, head: number): Line {
  const last = line.at(-1);
  // Only the last range can be open.
  return tidyRanges(
    last?.to === Number.POSITIVE_INFINITY ? [...line.slice(0, -1), { ...last, to: head }] : line,
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

/** The change that puts `inserted` in the place of an entry. Throws NOT_ON_LINE if the entry is not on the line. */
export function buildReplacement(line: Line, place: Place, inserted: Line): LineChange {
  requireOnLine(line, place);
  return { removed: [{ session: place.session, from: place.seq, to: place.seq }], inserted };
}

/** The change that removes the given entries. Throws NOT_ON_LINE if one of them is not on the line. */
export function buildRemoval(line: Line, places: readonly Place[]): LineChange {
  const bySession = Map.groupBy(places, ({ session }) => session);
  const removed = [...bySession].flatMap(([session, own]) => {
    const seqs = listSeqs(line, session);
    const missing = own.find(({ seq }) => !isInRanges(seqs, seq));
    if (missing) throw createNotOnLineError(missing);
    return joinRanges(own.map(({ seq }) => [seq, seq])).map(([from, to]) => ({ session, from, to }));
  });
  return { removed };
}

/** The difference between a line and the next one. */
export interface LineChange {
  readonly removed: readonly SeqRange[];
  /** Entries at the place of the first removed one. */
  readonly inserted?: readonly SeqRange[] | undefined;
}

/** The line after a change. */
export function changeLine(line: Line, { removed, inserted = [] }: LineChange): Line {
  const gaps = Map.groupBy(
    removed.toSorted((one, other) => one.from - other.from),
    ({ session }) => session,
  );
  const changed: SeqRange[] = [];
  let waiting = inserted;
  for (const range of line) {
    const { session, to } = range;
    const own = gaps.get(session) ?? [];
    let { from } = range;
    for (let index = findFirstGap(own, from); index < own.length; index++) {
      const gap = own[index] as SeqRange;
      if (gap.from > to) break;
      changed.push({ session, from, to: gap.from - 1 }, ...waiting);
      from = gap.to + 1;
      waiting = [];
    }
    changed.push(from === range.from ? range : { session, from, to });
  }
  return tidyRanges(changed);
}

/** Index of the first of sorted ranges that does not end before a seq. */
function findFirstGap(gaps: readonly SeqRange[], seq: number): number {
  let [low, high] = [0, gaps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((gaps[middle] as SeqRange).to < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The change from a line to the next one, if that has nothing but entries of the first, in the same order. */
export function findRemoval(line: Line, next: Line): LineChange | undefined {
  const sessions = new Set(line.map(({ session }) => session));
  const removed = [...sessions].flatMap((session) =>
    subtractRanges(listSeqs(line, session), listSeqs(next, session)).map(([from, to]) => ({
      session,
      from,
      to,
    })),
  );
  // A long list of removed ranges would be written in full anyway.
  if (removed.length > next.length) return undefined;
  const changed = changeLine(line, { removed });
  const isSame = changed.every(({ session, from, to }, index) => {
    const other = next[index];
    return other?.session === session && other.from === from && other.to === to;
  });
  return isSame && changed.length === next.length ? { removed } : undefined;
}

/** The seqs of one session in some ranges. */
export function listSeqs(ranges: readonly SeqRange[], session: string): readonly NumberRange[] {
  return joinRanges(
    ranges.flatMap((range) => (range.session === session ? [[range.from, range.to] as const] : [])),
  );
}

/** The range of a line that holds a place; throws if none does. */
export function requireOnLine(line: Line, place: Place): number {
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

/** Throws ARGUMENT_INVALID unless the ranges are valid and do not overlap. */
export function checkRanges(ranges: readonly SeqRange[]): void {
  checkList("ranges", ranges, { session: "name" });
  for (const [index, { from, to }] of ranges.entries()) {
    checkWholeNumber(`ranges[${index}].from`, from, 1);
    checkWholeNumber(`ranges[${index}].to`, to, from);
  }
  const ordered = ranges.toSorted((one, other) => one.from - other.from);
  const last = new Map<string, number>();
  for (const { session, from, to } of ordered) {
    if (from <= (last.get(session) ?? 0))
      throw createArgumentError("ranges", ranges, `ranges that do not overlap; ${session}#${from} is in two`);
    last.set(session, to);
  }
}

/** Returns the ranges if none extends past the head of its session, else throws ARGUMENT_INVALID. */
export function checkWithin(ranges: readonly SeqRange[], head: Place): readonly SeqRange[] {
  const beyond = ranges.find(({ session, to }) => session === head.session && to > head.seq);
  if (!beyond) return ranges;
  throw createArgumentError("ranges", ranges, `entries that exist; the last is ${head.session}#${head.seq}`);
}
