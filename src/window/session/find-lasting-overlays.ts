import type { SingleEdit } from "../../model/overlay.ts";
import type { Place } from "../../model/place.ts";
import type { ActiveOverlay } from "./active-overlay-set.ts";
import { findGaps, type LinePlaces, type Stretch } from "./line-places.ts";
import { findHiddenStretches, toPlacedEdit } from "./place-edit.ts";

/**
 * The lasting overlays that a new overlay with `isWhole` has to name, newest first. Skips overlays that a later summary
 * covers and names itself, so the list stays short no matter how often a session is summarized.
 */
export function findLastingOverlays(
  overlays: readonly ActiveOverlay[],
  places: LinePlaces,
): readonly Place[] {
  const covered: Stretch[] = [];
  return overlays.toReversed().flatMap(({ entry, edits }) => {
    const lasting = edits.flatMap((edit) =>
      edit.isLasting ? (toPlacedEdit(edit, entry.session, places) ?? []) : [],
    );
    const isCovered = lasting.every((edit) => isWithin(edit, covered));
    if (entry.edit.type === "summarize" && entry.edit.isWhole)
      for (const hidden of findHiddenStretches(lasting)) covered.push(hidden);
    return lasting.length === 0 || isCovered ? [] : [{ session: entry.session, seq: entry.seq }];
  });
}

function isWithin(edit: SingleEdit, covered: readonly Stretch[]): boolean {
  if (edit.type !== "replace")
    return findHiddenStretches([edit]).every((stretch) => isStretchWithin(stretch, covered));
  if ("callId" in edit.target) return false;
  return isStretchWithin({ from: edit.target.seq, to: edit.target.seq }, covered);
}

/** An empty stretch hides nothing and counts as its start. */
function isStretchWithin({ from, to }: Stretch, covered: readonly Stretch[]): boolean {
  return findGaps(covered, { from, to: Math.max(from, to) }).length === 0;
}
