import { setImmediate } from "node:timers/promises";
import { toEntry } from "../log/body.ts";
import type { Lines } from "../log/lines.ts";
import type { Entry, EntryKind } from "../model/entry.ts";
import { invalidArgument, wholeNumber } from "../model/errors.ts";
import { type Line, rangeIndexOf, type SeqRange } from "../model/line.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { type Cursor, type CursorPlace, readCursor, writeCursor } from "./cursor.ts";

/** What people see unless they ask for more. */
const SHOWN_KINDS: readonly EntryKind[] = ["message", "notice", "redacted"];
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;

/** Which page to read: the newest one unless a cursor is given. */
export interface PageOptions {
  readonly limit?: number;
  /** Older than this place; a page's own `before`. */
  readonly before?: Cursor;
  /** Newer than this place; a page's own `after`. */
  readonly after?: Cursor;
  /** Kinds to show; messages, notices and redacted entries by default. */
  readonly kinds?: readonly EntryKind[];
}

/** A stretch of the line, oldest entry first. */
export interface Page {
  readonly entries: readonly Entry[];
  /** For the page of older entries; missing when this one holds the oldest. */
  readonly before?: Cursor;
  /** For the page of newer entries: those that exist now, or later those appended since. */
  readonly after: Cursor;
}

/** Reads a page of a session's line. Pages keep following the line they began on, even after a rewind. */
export async function readPage(lines: Lines, entries: EntryStore, options: PageOptions = {}): Promise<Page> {
  const limit = wholeNumber("limit", options.limit ?? DEFAULT_LIMIT, 1, MAX_LIMIT);
  if (options.before !== undefined && options.after !== undefined) {
    throw invalidArgument("after", options.after, "nothing, because before is given");
  }
  const goesForward = options.after !== undefined;
  const cursor = options.after ?? options.before;
  const place = cursor === undefined ? undefined : readCursor(cursor, goesForward ? "after" : "before");
  const { seq: lineSeq, line } = place ? await lines.at(place.lineSeq) : await lines.active();

  const ranges = goesForward ? newerRanges(line, place) : olderRanges(line, place);
  const kinds = options.kinds ?? SHOWN_KINDS;
  // One more than asked for tells whether there is a further page.
  const found = await collect(entries, ranges, goesForward, limit + 1, kinds);
  const shown = found.slice(0, limit);
  if (!goesForward) shown.reverse();

  const first = shown[0];
  const last = shown.at(-1);
  const hasOlder = goesForward ? place?.at !== undefined : found.length > limit;
  return {
    entries: shown,
    ...(hasOlder && first && { before: writeCursor({ lineSeq, at: first }) }),
    after: last
      ? writeCursor({ lineSeq, at: last })
      : (options.after ?? writeCursor({ lineSeq, at: undefined })),
  };
}

/** The ranges from just before the place back to the start, newest first. */
function olderRanges(line: Line, place: CursorPlace | undefined): readonly SeqRange[] {
  if (!place) return [...line].reverse();
  if (!place.at) return [];
  const index = requireOnLine(line, place);
  const range = line[index] as SeqRange;
  return [{ ...range, to: place.at.seq - 1 }, ...line.slice(0, index).reverse()];
}

/** The ranges from just after the place to the end, oldest first. */
function newerRanges(line: Line, place: CursorPlace | undefined): readonly SeqRange[] {
  if (!place?.at) return line;
  const index = requireOnLine(line, place);
  const range = line[index] as SeqRange;
  return [{ ...range, from: place.at.seq + 1 }, ...line.slice(index + 1)];
}

function requireOnLine(line: Line, place: CursorPlace): number {
  const index = place.at ? rangeIndexOf(line, place.at.session, place.at.seq) : -1;
  if (index < 0) throw invalidArgument("cursor", writeCursor(place), "a cursor from a page of this session");
  return index;
}

async function collect(
  entries: EntryStore,
  ranges: readonly SeqRange[],
  goesForward: boolean,
  count: number,
  kinds: readonly EntryKind[],
): Promise<Entry[]> {
  const found: Entry[] = [];
  for (const range of ranges) {
    for await (const window of windows(entries, range, goesForward)) {
      const order = goesForward ? "ascending" : "descending";
      const stored = await entries.read(range.session, {
        ...window,
        limit: count - found.length,
        order,
        kinds,
      });
      for (const entry of stored) found.push(toEntry(range.session, entry));
      if (found.length === count) return found;
    }
  }
  return found;
}

/** Entries looked at in one go; where most are of other kinds, other work gets its turn in between. */
const WINDOW = 8_192;

async function* windows(
  entries: EntryStore,
  { session, from, to }: SeqRange,
  goesForward: boolean,
): AsyncGenerator<{ from: number; to: number }> {
  const end = to === Number.POSITIVE_INFINITY ? (await entries.head(session)).seq : to;
  for (let done = 0; from + done <= end; done += WINDOW) {
    if (done > 0) await setImmediate();
    if (goesForward) yield { from: from + done, to: Math.min(from + done + WINDOW - 1, end) };
    else yield { from: Math.max(end - done - WINDOW + 1, from), to: end - done };
  }
}
