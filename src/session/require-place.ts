import type { Lines } from "../log/lines.ts";
import type { EntryRef, Place } from "../model/entry.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { requireEntry } from "../view/lookup.ts";
import { requirePlaceAtTime } from "../view/place-at-time.ts";

/** The place of an entry by seq, id or time; throws ENTRY_NOT_FOUND if there is none. */
export async function requirePlace(lines: Lines, entries: EntryStore, which: EntryRef): Promise<Place> {
  if (which instanceof Date) return requirePlaceAtTime(lines, entries, which);
  const { session, seq } = await requireEntry(entries, await lines.resolvePlace(which));
  return { session, seq };
}
