import { toEntry } from "../../log/entry-body.ts";
import type { EntryStore } from "../../log/store/entry-store.ts";
import type { Entry, OverlayBody, SessionId } from "../../model/entry.ts";
import type { SeqRange } from "../../model/line.ts";
import type { HeldEntries, RevertEdit } from "../../model/overlay.ts";
import type { Place } from "../../model/place.ts";
import { type ActiveOverlay, ActiveOverlaySet } from "./active-overlay-set.ts";
import type { LinePlaces } from "./line-places.ts";

const BATCH = 64;

/** Finds the overlays of a line that are in effect, reading back no further than necessary. */
export async function findActiveOverlays(
  entries: EntryStore,
  line: readonly SeqRange[],
  places: LinePlaces,
): Promise<ActiveOverlaySet> {
  const inEffect = new ActiveOverlaySet((place) => places.findPlace(place));
  for await (const entry of readMarks(entries, line, "overlay")) {
    const place = places.findPlace(entry);
    if (place !== undefined && !inEffect.add({ place, entry: entry as Entry<OverlayBody> })) break;
  }
  const named = [...inEffect.lasting];
  for (const { session, seq } of named) {
    const place = places.findPlace({ session, seq });
    const stored = place === undefined ? undefined : await entries.get(session, seq);
    if (place === undefined || stored?.kind !== "overlay") continue;
    const entry = toEntry(session, stored);
    if (entry.kind === "overlay") for (const one of inEffect.addLasting({ place, entry })) named.push(one);
  }
  return inEffect;
}

/**
 * The entries that people have brought back by reverting edits of ours, and have not released since by reverting the
 * revert. Such entries leave the window last.
 */
export async function findHeldEntries(
  entries: EntryStore,
  overlays: readonly ActiveOverlay[],
  line: readonly SeqRange[],
): Promise<readonly HeldEntries[]> {
  const held: HeldEntries[] = [];
  const released = overlays.flatMap(({ entry }) => (entry.edit.type === "revert" ? [entry] : []));
  const isReleased = ({ session, seq }: Place) =>
    released.some(
      ({ edit, session: by }) =>
        edit.type === "revert" && edit.overlay === seq && (edit.session ?? by) === session,
    );
  for (const { entry } of overlays) {
    const { edit, session, seq, author } = entry;
    // A summary that stays in force may name the same reverts as a later plan.
    for (const one of edit.type === "plan" || edit.type === "summarize" ? (edit.held ?? []) : [])
      if (!isReleased(one.revert) && !held.some(({ revert }) => isSamePlace(revert, one.revert)))
        held.push(one);
    if (edit.type !== "revert" || author === "longhaul") continue;
    const ranges = edit.since
      ? await listRangesSince(entries, line, entry)
      : await listRangesOf(entries, edit, session);
    if (ranges.length > 0) held.push({ revert: { session, seq }, ranges });
  }
  return held;
}

function isSamePlace(one: Place, other: Place): boolean {
  return one.session === other.session && one.seq === other.seq;
}

async function listRangesOf(
  entries: EntryStore,
  { overlay, session, edit }: RevertEdit,
  by: SessionId,
): Promise<readonly SeqRange[]> {
  const stored = await entries.get(session ?? by, overlay);
  const target = stored && toEntry(session ?? by, stored);
  return target?.kind === "overlay" ? listRemoved(target, edit) : [];
}

/** Entries that our edits had removed from an overlay up to its revert; a plan of the whole window names them all. */
async function listRangesSince(
  entries: EntryStore,
  line: readonly SeqRange[],
  by: Entry<OverlayBody>,
): Promise<readonly SeqRange[]> {
  const { edit, session } = by;
  const ranges: SeqRange[] = [];
  let isEarlier = false;
  for await (const entry of readMarks(entries, line, "overlay")) {
    const own = entry as Entry<OverlayBody>;
    if (isEarlier) for (const range of listRemoved(own)) ranges.push(range);
    if (isEarlier && own.author === "longhaul" && own.edit.type === "plan" && own.edit.isWhole) break;
    if (edit.type === "revert" && own.seq === edit.overlay && own.session === (edit.session ?? session))
      break;
    if (own.id === by.id) isEarlier = true;
  }
  return ranges;
}

/** Entries that an edit of ours, or one edit of a plan, had removed from the window or replaced in it. */
function listRemoved({ author, edit, session }: Entry<OverlayBody>, which?: number): readonly SeqRange[] {
  if (author !== "longhaul" || edit.type === "revert") return [];
  const edits = edit.type === "plan" ? edit.edits : [edit];
  return edits.flatMap((one, index) => {
    if (which !== undefined && which !== index) return [];
    // A page hides nothing: its ranges end before they begin.
    if (one.type !== "replace") return one.ranges.filter(({ from, to }) => from <= to);
    const { target } = one;
    // A result that was shortened when it appeared is named by its part, and is not shortened again anyway.
    if ("callId" in target || target.part !== undefined) return [];
    return [{ session: target.session ?? session, from: target.seq, to: target.seq }];
  });
}

/** Overlays or pins of a line, newest first; damaged entries are skipped. */
export async function* readMarks(
  entries: EntryStore,
  line: readonly SeqRange[],
  kind: "overlay" | "pin",
): AsyncGenerator<Entry> {
  for (const { session, from, to } of line.toReversed()) {
    let last = to;
    for (;;) {
      const query = { from, to: last, limit: BATCH, order: "descending", kinds: [kind] } as const;
      const found = await entries.read(session, query);
      for (const stored of found) {
        const entry = toEntry(session, stored);
        if (entry.kind === kind) yield entry;
      }
      const oldest = found.at(-1);
      if (!oldest || found.length < BATCH) break;
      last = oldest.seq - 1;
    }
  }
}
