import type { Lines } from "../log/lines.ts";
import type { EntryId, Place } from "../model/entry.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { requireEntry } from "../view/lookup.ts";

/** The place of an entry by its seq or id; ENTRY_NOT_FOUND if there is none. */
export async function requirePlace(
  lines: Lines,
  entries: EntryStore,
  which: number | EntryId,
): Promise<Place> {
  const { session, seq } = await requireEntry(entries, await lines.placeOf(which));
  return { session, seq };
}
