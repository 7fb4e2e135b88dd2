import { type Entry, type EntryKind, formatEntryId, type Session } from "../../index.ts";

/** Entries per read: a compromise between speed and memory. */
const PAGE_ENTRIES = 200;

/** Yields all entries of the active line, oldest first, reading page by page. */
export async function* readWholeLine(session: Session, kinds: readonly EntryKind[]): AsyncGenerator<Entry> {
  const [active] = await session.lines(1);
  const first = active?.ranges.find(({ from, to }) => from <= to);
  if (!first) return;
  let page = await session.page({
    around: formatEntryId(first.session, first.from),
    limit: PAGE_ENTRIES,
    kinds,
  });
  while (page.entries.length > 0) {
    yield* page.entries;
    page = await session.page({ after: page.after, limit: PAGE_ENTRIES, kinds });
  }
}
