import { toEntry } from "../log/body.ts";
import { type Entry, type EntryId, entryId, parseEntryId, type SessionId } from "../model/entry.ts";
import { invalidArgument, LonghaulError, wholeNumber } from "../model/errors.ts";
import type { EntryStore } from "../store/entry-store.ts";

/** The entry of a seq or id, on whatever line; undefined if there is none. */
export async function findEntry(
  entries: EntryStore,
  session: SessionId,
  which: number | EntryId,
): Promise<Entry | undefined> {
  const place =
    typeof which === "number" ? { session, seq: wholeNumber("seq", which, 1) } : parseEntryId(which);
  if (place.session !== session)
    throw invalidArgument("entry id", which, `an id of session ${JSON.stringify(session)}`);
  const stored = await entries.get(session, place.seq);
  return stored && toEntry(session, stored);
}

/** The same, but ENTRY_NOT_FOUND if there is none. */
export async function requireEntry(
  entries: EntryStore,
  session: SessionId,
  which: number | EntryId,
): Promise<Entry> {
  const entry = await findEntry(entries, session, which);
  if (entry) return entry;
  const id = typeof which === "number" ? entryId(session, which) : which;
  throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${id}; session.head() tells the last seq.`, {
    details: { id },
  });
}

/** The last entry at or before a time, undefined if all are later. */
export async function findEntryAt(
  entries: EntryStore,
  session: SessionId,
  at: number | Date,
): Promise<Entry | undefined> {
  const ms = at instanceof Date ? at.getTime() : at;
  if (!Number.isFinite(ms)) throw invalidArgument("at", at, "a Date or milliseconds since 1970");
  const seq = await entries.seqAt(session, ms);
  return seq === 0 ? undefined : findEntry(entries, session, seq);
}
