import { type Entry, type EntryKind, entryId, type Session } from "../../index.ts";

/** Entries per read: a compromise between speed and memory. */
const PAGE = 200;

/** Yields all entries of the active line, oldest first, reading page by page. */
export async function* wholeLine(session: Session, kinds: readonly EntryKind[]): AsyncGenerator<Entry> {
  const [active] = await session.lines(1);
  const first = active?.ranges.find(({ from, to }) => from <= to);
  if (!first) return;
  let page = await session.page({ around: entryId(first.session, first.from), limit: PAGE, kinds });
  while (page.entries.length > 0) {
    yield* page.entries;
    page = await session.page({ after: page.after, limit: PAGE, kinds });
  }
}
