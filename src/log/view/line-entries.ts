import { checkKinds, type Entry, type EntryKind, type EntryRef, type Place } from "../../model/entry.ts";
import { createArgumentError, throwIfAborted } from "../../model/errors.ts";
import {
  closeLine,
  createNotOnLineError,
  findRangeIndex,
  type Line,
  type SeqRange,
} from "../../model/line.ts";
import type { Lines } from "../lines.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { type Direction, readBatches } from "./walk.ts";

/** Selects entries of the active line. */
export interface EntriesOptions {
  /** "newer" (default) begins with the oldest entry, "older" with the newest. */
  readonly direction?: Direction;
  /** The entry to begin with; by default the first in this direction. */
  readonly from?: EntryRef;
  /** The entry to end with; by default the last in this direction. */
  readonly to?: EntryRef;
  /** Kinds to yield; all by default. */
  readonly kinds?: readonly EntryKind[];
  readonly signal?: AbortSignal;
}

/** Services of `walkLine`. */
interface LineWalkDeps {
  readonly lines: Lines;
  readonly entries: EntryStore;
  /** Resolves a seq, id or time; throws ENTRY_NOT_FOUND. */
  readonly requirePlace: (which: EntryRef) => Promise<Place>;
}

/** Sizes of the batches: small at first, because many callers stop early. */
const BATCHES = [50, 200, 1_000] as const;

/**
 * Yields the entries of the active line. The walk stays on the line it began on and ends with the entries that existed
 * then.
 */
export async function* walkLine(
  { lines, entries, requirePlace }: LineWalkDeps,
  session: string,
  options: EntriesOptions,
): AsyncGenerator<Entry> {
  const { signal } = options;
  const direction = checkDirection(options.direction ?? "newer");
  const kinds = options.kinds && checkKinds(options.kinds);
  throwIfAborted(signal);
  const [from, to] = [
    options.from === undefined ? undefined : await requirePlace(options.from),
    options.to === undefined ? undefined : await requirePlace(options.to),
  ];
  const { line: open } = await lines.active();
  const line = closeLine(open, (await entries.head(session)).seq);
  const [first, last] = direction === "newer" ? [from, to] : [to, from];
  const ranges = keepBetween(line, first, last);
  let batch = 0;
  const getLimit = () => BATCHES[Math.min(batch++, BATCHES.length - 1)] as number;
  const ordered = direction === "newer" ? ranges : ranges.toReversed();
  for await (const found of readBatches(entries, ordered, direction, kinds, getLimit)) {
    for (const entry of found) {
      throwIfAborted(signal);
      yield entry;
    }
  }
}

/** The line from `first` to `last`, both included; empty if `last` is before `first`. */
function keepBetween(line: Line, first: Place | undefined, last: Place | undefined): Line {
  const start = first ? requireIndex(line, first) : 0;
  const end = last ? requireIndex(line, last) : line.length - 1;
  return line.slice(start, end + 1).map((range, index): SeqRange => {
    const isStart = first !== undefined && index === 0;
    const isEnd = last !== undefined && start + index === end;
    return { ...range, from: isStart ? first.seq : range.from, to: isEnd ? last.seq : range.to };
  });
}

function requireIndex(line: Line, place: Place): number {
  const index = findRangeIndex(line, place.session, place.seq);
  if (index < 0) throw createNotOnLineError(place);
  return index;
}

function checkDirection(direction: Direction): Direction {
  if (direction === "newer" || direction === "older") return direction;
  throw createArgumentError("direction", direction, '"newer" or "older"');
}
