import type { PinBody, Place } from "../faces/log.ts";
import { type Entry, type EntryId, formatEntryId, type Session } from "../index.ts";

/** Returns the pinned entries of the active line, oldest pin first. */
export async function readPinnedEntries(session: Session): Promise<readonly Entry[]> {
  const decided = new Map<EntryId, boolean>();
  const pins = session.entries({ direction: "older", kinds: ["pin"] }) as AsyncGenerator<Entry<PinBody>>;
  for await (const { target, isPinned } of pins) {
    const id = formatEntryId(target.session, target.seq);
    if (!decided.has(id)) decided.set(id, isPinned);
  }
  const pinned: Entry[] = [];
  for (const [id, isPinned] of [...decided].reverse()) {
    const entry = isPinned ? await session.entry(id) : undefined;
    if (entry && (await isOnLine(session, entry))) pinned.push(entry);
  }
  return pinned;
}

/** Checks whether a place is on the active line of a session. */
export async function isOnLine(session: Session, { session: owner, seq }: Place): Promise<boolean> {
  const [active] = await session.lines(1);
  return (active?.ranges ?? []).some(
    (range) => range.session === owner && seq >= range.from && seq <= range.to,
  );
}
