import { type Entry, type EntryKind, entryId, type Session } from "../../index.ts";

/** Entries read at once: enough to be quick, few enough to be small. */
const PAGE = 200;

/** All entries of the active line, oldest first, a page at a time. */
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
