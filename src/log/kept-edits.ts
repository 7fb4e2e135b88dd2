import type { Entry, EntryKind, OverlayBody, PinBody, Place } from "../model/entry.ts";
import {
  changeLine,
  closeLine,
  findRangeIndex,
  hasSeq,
  keepThrough,
  type Line,
  type SeqRange,
  tidyRanges,
} from "../model/line.ts";
import type { SingleEdit } from "../model/overlay.ts";
import { toEntry } from "./entry-body.ts";
import type { EntryStore } from "./store/entry-store.ts";

const BATCH = 100;
const MARKS: readonly EntryKind[] = ["overlay", "pin"];

/** The line that an importer has set before, and its name as the author of edits. */
export interface OwnLine {
  /** Its ranges may overlap: the last one goes on with everything that was appended since. */
  readonly line: Line;
  readonly author: string;
}

/**
 * The line that follows when an importer sets `next` in place of its own former line. Everything else is the work of
 * others: their pins and edits stay where they are, and entries that they have removed stay removed.
 */
export async function replaceOwnLine(
  entries: EntryStore,
  line: Line,
  next: Line,
  { line: former, author }: OwnLine,
): Promise<Line> {
  const removed: SeqRange[] = [];
  for (const range of changeLine(former, { removed: line }))
    if ((await findMessage(entries, range)) !== undefined) removed.push(range);
  let changed = changeLine(next, { removed });
  const after = changeLine(line, { removed: changed });
  let earliest = 0;
  let before: Place | undefined;
  for (const range of line) {
    for (const part of intersect(after, range))
      for await (const mark of readMarks(entries, part)) {
        if (mark.kind === "overlay" && mark.author === author) continue;
        const isKept = (place: Place) => hasSeq(changed, place);
        if (mark.kind === "overlay" && !(await concernsOnly(mark, after, isKept, entries))) continue;
        before = findLastBefore(changed, line, mark) ?? before;
        const split = before ? splitAfter(changed, before) : { index: 0, line: changed };
        const index = Math.max(earliest, split.index);
        const own = { session: mark.session, from: mark.seq, to: mark.seq };
        changed = split.line.toSpliced(index, 0, own);
        earliest = index + 1;
      }
  }
  return tidyRanges(changed);
}

/** The last entry before a mark on a line that another line has too. */
function findLastBefore(other: Line, line: Line, { session, seq }: Place): Place | undefined {
  const index = findRangeIndex(line, session, seq);
  const before = [...line.slice(0, index), { ...(line[index] as SeqRange), to: seq - 1 }];
  for (const range of before.toReversed()) {
    const last = Math.max(...intersect(other, range).map(({ to }) => to));
    if (Number.isFinite(last)) return { session: range.session, seq: last };
  }
  return undefined;
}

/** The line with its range split after a place, and the index of the second part. */
function splitAfter(line: Line, { session, seq }: Place): { readonly index: number; readonly line: Line } {
  const index = findRangeIndex(line, session, seq);
  const range = line[index] as SeqRange;
  if (range.to === seq) return { index: index + 1, line };
  return {
    index: index + 1,
    line: line.toSpliced(index, 1, { ...range, to: seq }, { ...range, from: seq + 1 }),
  };
}

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
