import { setImmediate } from "node:timers/promises";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { checkKinds, type Entry, type EntryKind, type EntryRef, type Place } from "../../model/entry.ts";
import { createArgumentError, throwIfAborted } from "../../model/errors.ts";
import { closeLine, findRangeIndex, type Line, requireOnLine, type SeqRange } from "../../model/line.ts";
import { toEntry } from "../entry-body.ts";
import type { Lines } from "../lines.ts";
import type { EntryStore } from "../store/entry-store.ts";

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

/** Direction along a line. */
type Direction = "older" | "newer";

/** Entries scanned per read; other work can run between reads when most entries are of other kinds. */
const WINDOW = 8_192;

/**
 * The ranges from a place to the end of the line in a direction, nearest first; undefined if the
 * place is not on the line.
 */
export function listRangesFrom(
  line: Line,
  place: Place,
  direction: Direction,
  options: { readonly inclusive?: boolean } = {},
): readonly SeqRange[] | undefined {
  const index = findRangeIndex(line, place.session, place.seq);
  const range = line[index];
  if (!range) return undefined;
  const step = options.inclusive ? 0 : 1;
  if (direction === "newer") return [{ ...range, from: place.seq + step }, ...line.slice(index + 1)];
  return [{ ...range, to: place.seq - step }, ...line.slice(0, index).reverse()];
}

/** The first `count` entries of the given kinds along the ranges, nearest first. */
export async function collectEntries(
  entries: EntryStore,
  ranges: readonly SeqRange[],
  direction: Direction,
  count: number,
  kinds: readonly EntryKind[],
): Promise<Entry[]> {
  const found: Entry[] = [];
  const batches = readBatches(entries, ranges, direction, kinds, () => count - found.length);
  for await (const batch of batches) {
    found.push(...batch);
    if (found.length === count) break;
  }
  return found;
}

/** All entries along the ranges in batches, nearest first; `getLimit` is the size of the next batch. */
async function* readBatches(
  entries: EntryStore,
  ranges: readonly SeqRange[],
  direction: Direction,
  kinds: readonly EntryKind[] | undefined,
  getLimit: () => number,
): AsyncGenerator<readonly Entry[]> {
  const order = direction === "newer" ? "ascending" : "descending";
  for (const { session, ...range } of ranges) {
    for await (let { from, to } of splitIntoWindows(entries, { session, ...range }, direction)) {
      while (from <= to) {
        const limit = getLimit();
        const found = await entries.read(session, { from, to, limit, order, ...dropUndefined({ kinds }) });
        if (found.length > 0) yield found.map((stored) => toEntry(session, stored));
        if (found.length < limit) break;
        const last = found.at(-1)?.seq as number;
        if (direction === "newer") from = last + 1;
        else to = last - 1;
      }
    }
  }
}

async function* splitIntoWindows(
  entries: EntryStore,
  { session, from, to }: SeqRange,
  direction: Direction,
): AsyncGenerator<{ from: number; to: number }> {
  const end = to === Number.POSITIVE_INFINITY ? (await entries.head(session)).seq : to;
  for (let done = 0; from + done <= end; done += WINDOW) {
    if (done > 0) await setImmediate();
    if (direction === "newer") yield { from: from + done, to: Math.min(from + done + WINDOW - 1, end) };
    else yield { from: Math.max(end - done - WINDOW + 1, from), to: end - done };
  }
}

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
  const start = first ? requireOnLine(line, first) : 0;
  const end = last ? requireOnLine(line, last) : line.length - 1;
  return line.slice(start, end + 1).map((range, index): SeqRange => {
    const isStart = first !== undefined && index === 0;
    const isEnd = last !== undefined && start + index === end;
    return { ...range, from: isStart ? first.seq : range.from, to: isEnd ? last.seq : range.to };
  });
}

function checkDirection(direction: Direction): Direction {
  if (direction === "newer" || direction === "older") return direction;
  throw createArgumentError("direction", direction, '"newer" or "older"');
}
