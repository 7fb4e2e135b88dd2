import { type Entry, type EntryId, formatEntryId, type PinBody, type Session } from "../../index.ts";
import { isOnLine } from "./is-on-line.ts";

const PAGE_ENTRIES = 200;

/** Returns the pinned entries of the active line, oldest pin first. */
export async function readPinnedEntries(session: Session): Promise<readonly Entry[]> {
  const decided = new Map<EntryId, boolean>();
  for await (const { target, isPinned } of readPins(session)) {
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

/** Yields the pin entries of the line, newest first. */
async function* readPins(session: Session): AsyncGenerator<Entry<PinBody>> {
  let before: string | undefined;
  do {
    const page = await session.page({
      kinds: ["pin"],
      limit: PAGE_ENTRIES,
      ...(before !== undefined && { before }),
    });
    yield* page.entries.toReversed() as readonly Entry<PinBody>[];
    before = page.before;
  } while (before !== undefined);
}
