import { toEntry } from "../log/entry-body.ts";
import { type Entry, formatEntryId, type Place, type SessionId } from "../model/entry.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import type { EntryStore } from "../store/entry-store.ts";

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
