import type { Lines } from "../log/lines.ts";
import type { Log } from "../log/log.ts";
import { redactEntries } from "../log/redaction.ts";
import type { EntryRef, Place, SessionId } from "../model/entry.ts";
import type { FreedCounts } from "../store/freed-counts.ts";
import { requirePlaceAtTime } from "../view/place-at-time.ts";
import { findQuotingTitles } from "./quoting-titles.ts";
import { findTraces } from "./traces.ts";

/** Stands in place of a title that quoted removed content. */
const REMOVED_TITLE = "(title removed)";

/** Erases the content of entries from disk, and the overlays and titles that may quote it. */
export async function redactWithTraces(
  log: Log,
  session: SessionId,
  lines: Lines,
  which: readonly EntryRef[],
  reason: string | undefined,
): Promise<FreedCounts> {
  const places: Place[] = [];
  for (const one of which)
    places.push(
      one instanceof Date
        ? await requirePlaceAtTime(lines, log.store.entries, one)
        : await lines.resolvePlace(one),
    );
  const traces = await findTraces(log.store.entries, session, places);
  const titled = await findQuotingTitles(log.store, places);
  const freed = await redactEntries(log, session, [...places, ...traces], reason);
  for (const id of titled) await log.store.sessions.update(id, { title: REMOVED_TITLE });
  return freed;
}
