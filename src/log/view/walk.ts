import { setImmediate } from "node:timers/promises";
import type { Entry, EntryKind, Place } from "../../model/entry.ts";
import { findRangeIndex, type Line, type SeqRange } from "../../model/line.ts";
import { toEntry } from "../entry-body.ts";
import type { EntryStore } from "../store/entry-store.ts";

/** Direction along a line. */
export type Direction = "older" | "newer";

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
export async function* readBatches(
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
        const found = await entries.read(session, { from, to, limit, order, ...(kinds && { kinds }) });
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
