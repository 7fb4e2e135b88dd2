import { toEntry } from "../log/entry-body.ts";
import type { Entry, Place } from "../model/entry.ts";
import type { SeqRange } from "../model/line.ts";
import type { Edit } from "../model/overlay.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { requireEntry } from "./lookup.ts";

const BATCH = 100;

/**
 * Expands an entry: a summary or plan yields the messages that left the window with it, including earlier summaries, in
 * log order; any other entry yields itself. Streams the messages.
 */
export async function* expandEntry(entries: EntryStore, place: Place): AsyncGenerator<Entry> {
  const entry = await requireEntry(entries, place);
  const ranges = entry.kind === "overlay" ? listRanges(entry.edit, entry.session) : [];
  if (ranges.length === 0) {
    yield entry;
    return;
  }
  for (const range of ranges) yield* readMessages(entries, range);
}

/** The ranges of entries that an edit affects. */
function listRanges(edit: Edit, session: string): readonly SeqRange[] {
  switch (edit.type) {
    case "plan":
      return edit.edits.flatMap((single) => listRanges(single, session)).sort((a, b) => a.from - b.from);
    case "replace": {
      if ("callId" in edit.target) return [];
      const { seq, session: own = session } = edit.target;
      return [{ session: own, from: seq, to: seq }];
    }
    case "hide":
    case "summarize":
      return edit.ranges;
    case "revert":
      return [];
  }
}

async function* readMessages(entries: EntryStore, { session, from, to }: SeqRange): AsyncGenerator<Entry> {
  for (let next = from; next <= to; ) {
    const query = { from: next, to, limit: BATCH, order: "ascending", kinds: ["message"] } as const;
    const found = await entries.read(session, query);
    for (const stored of found) yield toEntry(session, stored);
    const last = found.at(-1);
    if (!last || found.length < BATCH) return;
    next = last.seq + 1;
  }
}
