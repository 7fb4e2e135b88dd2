import type { Entry, EntryKind, OverlayBody, PinBody, Place } from "../model/entry.ts";
import {
  closeLine,
  findRangeIndex,
  keepThrough,
  type Line,
  type SeqRange,
  tidyRanges,
} from "../model/line.ts";
import type { SingleEdit } from "../model/overlay.ts";
import type { EntryStore } from "../store/entry-store.ts";
import { toEntry } from "./entry-body.ts";

const BATCH = 100;
const MARKS: readonly EntryKind[] = ["overlay", "pin"];

/**
 * The line up to and including `place`, with the entries directly after it up to the next message, and with the later
 * overlays and pins that concern no message after it. A plan is stored after the question it was made for, so that a
 * client that takes back this question or its reply would otherwise lose the plan, and the provider's cached prefix.
 */
export async function keepEdits(entries: EntryStore, line: Line, head: number, place: Place): Promise<Line> {
  const before = keepThrough(line, place);
  const after = listAfter(closeLine(line, head), place);
  const kept: SeqRange[] = [...before];
  const isKept = ({ session, seq }: Place) => findRangeIndex(kept, session, seq) >= 0;
  let isDirect = true;
  for (const range of after) {
    const message = isDirect ? await findMessage(entries, range) : range.from;
    if (isDirect && message !== range.from)
      kept.push(message === undefined ? range : { ...range, to: message - 1 });
    if (message === undefined) continue;
    isDirect = false;
    for await (const entry of readMarks(entries, { ...range, from: message }))
      if (await concernsOnly(entry, after, isKept, entries))
        kept.push({ session: entry.session, from: entry.seq, to: entry.seq });
  }
  return tidyRanges(kept);
}

function listAfter(line: Line, { session, seq }: Place): Line {
  const index = findRangeIndex(line, session, seq);
  const range = line[index];
  if (!range) return [];
  return tidyRanges([{ ...range, from: seq + 1 }, ...line.slice(index + 1)]);
}

/** True if an overlay or a pin concerns entries that are kept, and no message after them. */
async function concernsOnly(
  entry: Entry<OverlayBody | PinBody>,
  after: Line,
  isKept: (place: Place) => boolean,
  entries: EntryStore,
): Promise<boolean> {
  if (entry.kind === "pin") return isKept(entry.target);
  const { edit, session } = entry;
  if (edit.type === "revert") return isKept({ session: edit.session ?? session, seq: edit.overlay });
  for (const single of edit.type === "plan" ? edit.edits : [edit]) {
    if (!listNamedPlaces(single, session).every(isKept)) return false;
    for (const range of single.type === "replace" ? [] : single.ranges)
      for (const part of intersect(after, range))
        if ((await findMessage(entries, part)) !== undefined) return false;
  }
  return true;
}

/** The entries that an edit names one by one; a range that ends before it begins is a position. */
function listNamedPlaces(edit: SingleEdit, session: string): readonly Place[] {
  if (edit.type === "replace")
    return "callId" in edit.target ? [] : [{ session: edit.target.session ?? session, seq: edit.target.seq }];
  const positions = edit.ranges.flatMap((range) =>
    range.to < range.from ? [{ session: range.session, seq: range.to }] : [],
  );
  const summary = edit.type === "summarize" ? edit : undefined;
  const entry = summary?.entry === undefined ? [] : [{ session, seq: summary.entry }];
  return [...positions, ...entry, ...(summary?.quotes ?? [])];
}

function intersect(line: Line, { session, from, to }: SeqRange): Line {
  return tidyRanges(
    line.flatMap((range) =>
      range.session === session
        ? [{ session, from: Math.max(from, range.from), to: Math.min(to, range.to) }]
        : [],
    ),
  );
}

/** Seq of the first message of a range. */
async function findMessage(
  entries: EntryStore,
  { session, from, to }: SeqRange,
): Promise<number | undefined> {
  const query = { from, to, limit: 1, order: "ascending", kinds: ["message"] } as const;
  return (await entries.read(session, query))[0]?.seq;
}

async function* readMarks(
  entries: EntryStore,
  { session, from, to }: SeqRange,
): AsyncGenerator<Entry<OverlayBody | PinBody>> {
  for (let next = from; ; ) {
    const query = { from: next, to, limit: BATCH, order: "ascending", kinds: MARKS } as const;
    const found = await entries.read(session, query);
    for (const stored of found) {
      const entry = toEntry(session, stored);
      if (entry.kind === "overlay" || entry.kind === "pin") yield entry as Entry<OverlayBody | PinBody>;
    }
    const last = found.at(-1);
    if (!last || found.length < BATCH) return;
    next = last.seq + 1;
  }
}
