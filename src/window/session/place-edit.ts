import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { SessionId } from "../../model/entry.ts";
import type { SeqRange } from "../../model/line.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { LinePlaces, Stretch } from "./line-places.ts";

/**
 * Converts an edit from seqs to places of the line, as the pure window functions expect; undefined if none of its
 * targets is on the line. `session` is the session of the overlay.
 */
export function toPlacedEdit(
  edit: SingleEdit,
  session: SessionId,
  places: LinePlaces,
): SingleEdit | undefined {
  if (edit.type === "replace") {
    if ("callId" in edit.target) return edit;
    const { seq, part, session: own = session } = edit.target;
    const place = places.findPlace({ session: own, seq });
    if (place === undefined) return undefined;
    return { ...edit, target: part === undefined ? { seq: place } : { seq: place, part } };
  }
  const ranges = places.toStretches(edit.ranges).map((stretch) => ({ session, ...stretch }));
  if (ranges.length === 0) return undefined;
  if (edit.type === "hide") return { ...edit, ranges };
  const { entry, ...rest } = edit;
  const place = entry === undefined ? undefined : places.findPlace({ session, seq: entry });
  const placed = (own: readonly SeqRange[]) =>
    places.toStretches(own).map((stretch) => ({ session, ...stretch }));
  return {
    ...rest,
    ranges,
    ...dropUndefined({ entry: place }),
    ...(edit.parts && { parts: edit.parts.map((part) => ({ ...part, ranges: placed(part.ranges) })) }),
  };
}

/** Converts an edit from places back to the form stored in the log of `session`. */
export function toStoredEdit(edit: SingleEdit, session: SessionId, places: LinePlaces): SingleEdit {
  if (edit.type === "replace") {
    if ("callId" in edit.target) return edit;
    const { seq: place, ...rest } = edit.target;
    const at = places.findEntry(place);
    if (!at) return edit;
    const own = at.session === session ? {} : { session: at.session };
    return { ...edit, target: { ...rest, seq: at.seq, ...own } };
  }
  const stored = (own: readonly Stretch[]) => own.flatMap((stretch) => places.toRanges(stretch));
  const ranges = stored(edit.ranges);
  if (edit.type === "hide" || !edit.parts) return { ...edit, ranges };
  return { ...edit, ranges, parts: edit.parts.map((part) => ({ ...part, ranges: stored(part.ranges) })) };
}

/** The stretches that edits in places hide. */
export function findHiddenStretches(edits: readonly SingleEdit[]): readonly Stretch[] {
  return edits.flatMap((edit): readonly Stretch[] => {
    if (edit.type === "replace") return [];
    if (edit.type === "hide" || edit.entry === undefined) return edit.ranges;
    const { entry } = edit;
    return edit.ranges.flatMap(({ from, to }) =>
      from <= entry && entry <= to
        ? [
            { from, to: entry - 1 },
            { from: entry + 1, to },
          ].filter((stretch) => stretch.from <= stretch.to)
        : [{ from, to }],
    );
  });
}
