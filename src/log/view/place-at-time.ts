import type { Place } from "../../model/entry.ts";
import { createArgumentError, LonghaulError } from "../../model/errors.ts";
import { findRangeIndex, type Line } from "../../model/line.ts";
import { toEntry } from "../entry-body.ts";
import type { Lines } from "../lines.ts";
import type { EntryStore } from "../store/entry-store.ts";

/** Kinds that people refer to by time. */
const TIMED_KINDS = ["message", "notice"] as const;
const PAGE = 100;
/** How far after its place in time an imported message with its own earlier time is looked for. */
const MAX_LATE = 2_000;

/**
 * The place of the message or notice on the active line with exactly this time; undefined if there is none,
 * ARGUMENT_INVALID if several share it. The number of entries it reads does not depend on the session's length.
 */
export async function findPlaceAtTime(
  lines: Lines,
  entries: EntryStore,
  time: Date,
): Promise<Place | undefined> {
  const at = time.getTime();
  if (Number.isNaN(at)) throw createArgumentError("time", time, "a valid Date");
  const { line } = await lines.active();
  const found: Place[] = [];
  for (const session of new Set(line.map((range) => range.session)))
    for (const place of await findPlacesAt(entries, line, session, at)) found.push(place);
  const [place, other] = found;
  if (place && other) throw createAmbiguousError(time, [place, other]);
  return place;
}

/** Like `findPlaceAtTime`, but throws ENTRY_NOT_FOUND if there is none. */
export async function requirePlaceAtTime(lines: Lines, entries: EntryStore, time: Date): Promise<Place> {
  const place = await findPlaceAtTime(lines, entries, time);
  if (place) return place;
  throw new LonghaulError(
    "ENTRY_NOT_FOUND",
    `No message of the active line has the time ${time.toISOString()}; session.entryAt() finds the last entry before it.`,
    { details: { at: time.getTime() } },
  );
}

/** Places of one session's log on the line with that time; at most two, which is enough to detect ambiguity. */
async function findPlacesAt(
  entries: EntryStore,
  line: Line,
  session: string,
  at: number,
): Promise<readonly Place[]> {
  const last = await entries.seqAt(session, at);
  const first = (await entries.seqAt(session, at - 1)) + 1;
  const there = await findPlacesWithin(entries, line, session, { at, first, last });
  if (there.length > 0) return there;
  // Entries that an import found out of order were stored later than their own time.
  return findPlacesWithin(entries, line, session, { at, first: last + 1, last: last + MAX_LATE });
}

async function findPlacesWithin(
  entries: EntryStore,
  line: Line,
  session: string,
  { at, first, last }: { readonly at: number; readonly first: number; readonly last: number },
): Promise<readonly Place[]> {
  const found: Place[] = [];
  for (let from = first; from <= last && found.length < 2; ) {
    const query = { from, to: last, limit: PAGE, order: "ascending", kinds: TIMED_KINDS } as const;
    const page = await entries.read(session, query);
    for (const stored of page) {
      const { seq } = stored;
      if (findRangeIndex(line, session, seq) >= 0 && toEntry(session, stored).at === at)
        found.push({ session, seq });
    }
    if (page.length < PAGE) break;
    from = (page.at(-1)?.seq ?? last) + 1;
  }
  return found.slice(0, 2);
}

function createAmbiguousError(time: Date, places: readonly Place[]): LonghaulError {
  const names = places.map(({ session, seq }) => `${session}#${seq}`).join(" and ");
  const expected = `the time of one message; ${names} share it, name one by its seq or id`;
  return createArgumentError("time", time.toISOString(), expected);
}
