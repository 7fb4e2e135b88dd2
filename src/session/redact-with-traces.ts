import type { Lines } from "../log/lines.ts";
import type { Log } from "../log/log.ts";
import { redactEntries } from "../log/redaction.ts";
import type { EntryRef, Place, SessionId } from "../model/entry.ts";
import type { Freed } from "../store/freed.ts";
import { requirePlaceAtTime } from "../view/place-at-time.ts";
import { tracesOf } from "./traces.ts";

/** Erases the content of entries from disk, and the overlays that may quote it. */
export async function redactWithTraces(
  log: Log,
  session: SessionId,
  lines: Lines,
  which: readonly EntryRef[],
  reason: string | undefined,
): Promise<Freed> {
  const places: Place[] = [];
  for (const one of which)
    places.push(
      one instanceof Date
        ? await requirePlaceAtTime(lines, log.store.entries, one)
        : await lines.placeOf(one),
    );
  const traces = await tracesOf(log.store.entries, session, places);
  return redactEntries(log, session, [...places, ...traces], reason);
}
