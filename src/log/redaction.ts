import { dropUndefined } from "../model/base/drop-undefined.ts";
import { type EntryBody, formatEntryId, type Place, type SessionId } from "../model/entry.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import type { Log } from "./log.ts";
import type { Tombstone } from "./store/entry-store.ts";
import type { FreedCounts } from "./store/freed-counts.ts";

/** Erases the content of a session's own entries from disk; all or none if one cannot be redacted. */
export async function redactEntries(
  log: Log,
  session: SessionId,
  places: readonly Place[],
  reason: string | undefined,
): Promise<FreedCounts> {
  const tombstones: Tombstone[] = [];
  for (const place of places) {
    const tombstone = await buildTombstone(log, session, place, reason);
    if (tombstone) tombstones.push(tombstone);
  }
  const freed = await log.store.entries.redact(session, tombstones);
  log.blobs.dropCache();
  return freed;
}

async function buildTombstone(
  log: Log,
  session: SessionId,
  place: Place,
  reason: string | undefined,
): Promise<Tombstone | undefined> {
  const id = formatEntryId(place.session, place.seq);
  if (place.session !== session) {
    throw createArgumentError("entry", id, `an entry of ${session} itself; redact it in its own session`);
  }
  const stored = await log.store.entries.get(session, place.seq);
  if (!stored)
    throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${id} to redact.`, { details: { id } });
  if (stored.kind === "line")
    throw createArgumentError("entry", id, "a message or notice; lines hold no content");
  if (stored.kind === "redacted") return undefined;
  const body: EntryBody = { kind: "redacted", was: stored.kind, ...dropUndefined({ reason }) };
  return { seq: place.seq, payload: log.encode(body) };
}
