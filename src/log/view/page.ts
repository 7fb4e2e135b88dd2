import {
  checkKinds,
  type Entry,
  type EntryId,
  type EntryKind,
  formatEntryId,
  type Place,
  parseEntryId,
  type SessionId,
} from "../../model/entry.ts";
import { checkWholeNumber, createArgumentError, LonghaulError } from "../../model/errors.ts";
import { createNotOnLineError } from "../../model/line.ts";
import { toEntry } from "../entry-body.ts";
import type { Lines } from "../lines.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { collectEntries, listRangesFrom } from "./walk.ts";

/** Kinds shown by default. */
const SHOWN_KINDS: readonly EntryKind[] = ["message", "notice", "redacted", "damaged"];
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;

/** Selects a page: the newest one, unless `before`, `after` or `around` is given. */
export interface PageOptions {
  readonly limit?: number;
  /** Entries older than this cursor, which is a page's own `before`. */
  readonly before?: Cursor;
  /** Entries newer than this cursor, which is a page's own `after`. */
  readonly after?: Cursor;
  /** The page with this entry in the middle, to jump to a search result. */
  readonly around?: number | EntryId;
  /** Kinds to show; messages, notices, redacted and damaged entries by default. */
  readonly kinds?: readonly EntryKind[];
}

/** A page of the line, oldest entry first. */
export interface Page {
  readonly entries: readonly Entry[];
  /** Cursor of the page with older entries; missing on the oldest page. */
  readonly before?: Cursor;
  /** Cursor of the page with newer entries: existing ones, or those appended later. */
  readonly after: Cursor;
}

/** Reads a page of a session's line. Pages stay on the line they began on, even after a rewind. */
export async function readPage(lines: Lines, entries: EntryStore, options: PageOptions = {}): Promise<Page> {
  const reader = new PageReader(entries, options);
  const { before, after, around } = options;
  if ([before, after, around].filter((option) => option !== undefined).length > 1) {
    throw createArgumentError("options", options, "only one of before, after and around");
  }
  if (after !== undefined) return reader.newer(lines, after);
  if (before !== undefined) return reader.older(lines, before);
  return around === undefined ? reader.newest(lines) : reader.around(lines, around);
}

class PageReader {
  readonly #entries: EntryStore;
  readonly #limit: number;
  readonly #kinds: readonly EntryKind[];

  constructor(entries: EntryStore, options: PageOptions) {
    this.#entries = entries;
    this.#limit = checkWholeNumber("limit", options.limit ?? DEFAULT_LIMIT, 1, MAX_LIMIT);
    this.#kinds = checkKinds(options.kinds ?? SHOWN_KINDS);
  }

  async newest(lines: Lines): Promise<Page> {
    const { seq, line } = await lines.active();
    // One extra entry shows whether there is a further page.
    const found = await collectEntries(
      this.#entries,
      line.toReversed(),
      "older",
      this.#limit + 1,
      this.#kinds,
    );
    const shown = found.slice(0, this.#limit).reverse();
    return buildPage(seq, shown, found.length > this.#limit, formatCursor({ lineSeq: seq, at: undefined }));
  }

  async older(lines: Lines, cursor: Cursor): Promise<Page> {
    const place = parseCursor(cursor, "before");
    const { seq, line } = await lines.at(place.lineSeq);
    const ranges = place.at ? listRangesFrom(line, place.at, "older") : [];
    if (!ranges) throw createCursorError("before", cursor);
    const found = await collectEntries(this.#entries, ranges, "older", this.#limit + 1, this.#kinds);
    return buildPage(seq, found.slice(0, this.#limit).reverse(), found.length > this.#limit, cursor);
  }

  async newer(lines: Lines, cursor: Cursor): Promise<Page> {
    const place = parseCursor(cursor, "after");
    const { seq, line } = await lines.at(place.lineSeq);
    const ranges = place.at ? listRangesFrom(line, place.at, "newer") : line;
    if (!ranges) throw createCursorError("after", cursor);
    const found = await collectEntries(this.#entries, ranges, "newer", this.#limit, this.#kinds);
    return buildPage(seq, found, place.at !== undefined, cursor);
  }

  async around(lines: Lines, which: number | EntryId): Promise<Page> {
    const { seq, line } = await lines.active();
    const place = await lines.resolvePlace(which);
    const [olderRanges, newerRanges] = [
      listRangesFrom(line, place, "older"),
      listRangesFrom(line, place, "newer", { inclusive: true }),
    ];
    if (!olderRanges || !newerRanges) throw createNotOnLineError(place);
    const half = Math.floor(this.#limit / 2);
    const older = await collectEntries(this.#entries, olderRanges, "older", half + 1, this.#kinds);
    const shown = older.slice(0, half).reverse();
    shown.push(
      ...(await collectEntries(this.#entries, newerRanges, "newer", this.#limit - shown.length, this.#kinds)),
    );
    return buildPage(seq, shown, older.length > half, formatCursor({ lineSeq: seq, at: place }));
  }
}

/** Builds a page; `end` is its newer cursor if the page is empty. */
function buildPage(lineSeq: number, entries: readonly Entry[], hasOlder: boolean, end: Cursor): Page {
  const first = entries[0];
  const last = entries.at(-1);
  return {
    entries,
    ...(hasOlder && first && { before: formatCursor({ lineSeq, at: first }) }),
    after: last ? formatCursor({ lineSeq, at: last }) : end,
  };
}

function createCursorError(option: string, cursor: Cursor) {
  return createArgumentError(option, cursor, "a cursor from a page of this session");
}

/** A position on a line to continue paging from; opaque to callers and valid as long as the session exists. */
type Cursor = string;

/** A line, and the last entry seen on it; undefined at the start of a line. */
interface CursorPlace {
  readonly lineSeq: number;
  readonly at: Place | undefined;
}

/** Formats a cursor as `<line seq>@<entry id>`. */
function formatCursor({ lineSeq, at }: CursorPlace): Cursor {
  return `${lineSeq}@${at ? formatEntryId(at.session, at.seq) : ""}`;
}

/** Parses a cursor; throws ARGUMENT_INVALID if it is malformed. */
function parseCursor(cursor: Cursor, option: string): CursorPlace {
  const match = typeof cursor === "string" ? /^(\d{1,10})@(.*)$/s.exec(cursor) : null;
  if (!match) throw createArgumentError(option, cursor, "a cursor from an earlier page");
  return { lineSeq: Number(match[1]), at: match[2] ? parseEntryId(match[2]) : undefined };
}

/** Selects a range of the log. */
export interface RangeOptions {
  readonly from: number;
  readonly to?: number;
  /** Maximum number of entries; 100 by default. */
  readonly limit?: number;
  readonly kinds?: readonly EntryKind[];
}

/** Entries of the log in order of seq, on any line. */
export async function readRange(
  entries: EntryStore,
  session: SessionId,
  options: RangeOptions,
): Promise<readonly Entry[]> {
  const { kinds } = options;
  const stored = await entries.read(session, {
    from: checkWholeNumber("from", options.from, 1),
    to: options.to === undefined ? Number.POSITIVE_INFINITY : checkWholeNumber("to", options.to, 0),
    limit: checkWholeNumber("limit", options.limit ?? 100, 1, 1_000),
    order: "ascending",
    ...(kinds && { kinds: checkKinds(kinds) }),
  });
  return stored.map((entry) => toEntry(session, entry));
}

/** The entry at a place; undefined if there is none. */
export async function findEntry(entries: EntryStore, { session, seq }: Place): Promise<Entry | undefined> {
  const stored = await entries.get(session, seq);
  return stored && toEntry(session, stored);
}

/** The entry at a place; throws ENTRY_NOT_FOUND if there is none. */
export async function requireEntry(entries: EntryStore, place: Place): Promise<Entry> {
  const entry = await findEntry(entries, place);
  if (entry) return entry;
  const id = formatEntryId(place.session, place.seq);
  throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${id}; session.head() tells the last seq.`, {
    details: { id },
  });
}

/** The last entry at or before a time; undefined if all are later. */
export async function findEntryAt(
  entries: EntryStore,
  session: SessionId,
  at: number | Date,
): Promise<Entry | undefined> {
  const ms = at instanceof Date ? at.getTime() : at;
  if (!Number.isFinite(ms)) throw createArgumentError("at", at, "a Date or milliseconds since 1970");
  const seq = await entries.seqAt(session, ms);
  return seq === 0 ? undefined : findEntry(entries, { session, seq });
}
