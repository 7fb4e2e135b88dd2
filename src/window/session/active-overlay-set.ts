import type { Entry, OverlayBody } from "../../model/entry.ts";
import {
  type Edit,
  type EditBasis,
  listSingleEdits,
  type RevertEdit,
  type SingleEdit,
} from "../../model/overlay.ts";
import type { Place } from "../../model/place.ts";
import { Reverts } from "./reverts.ts";

/** An overlay with its place on the line. */
interface PlacedOverlay {
  readonly place: number;
  readonly entry: Entry<OverlayBody>;
}

/** An overlay in effect, with its edits that were not reverted; a revert has none. */
export interface ActiveOverlay extends PlacedOverlay {
  readonly edits: readonly SingleEdit[];
}

/**
 * Decides which overlays are in effect. Overlays are added newest first, because only later ones can revert earlier
 * ones. Once an overlay with `isWhole` is in effect, older ones matter only if it names them: it was computed from the
 * log and supersedes them.
 */
export class ActiveOverlaySet {
  readonly #overlays: ActiveOverlay[] = [];
  readonly #reverts: Reverts;
  readonly #addedPlaces = new Set<number>();
  #lasting: readonly Place[] = [];

  constructor(placeOf: (place: Place) => number | undefined) {
    this.#reverts = new Reverts(placeOf);
  }

  /** The overlays in effect, oldest first. */
  get overlays(): readonly ActiveOverlay[] {
    return this.#overlays.toSorted((one, other) => one.place - other.place);
  }

  /** Overlays still to be passed to `addLasting` once `add` has returned false; newest first. */
  get lasting(): readonly Place[] {
    return this.#lasting;
  }

  /** Adds an overlay that was named as lasting; if it was itself reverted, returns the overlays that it named. */
  addLasting(overlay: PlacedOverlay): readonly Place[] {
    if (this.#addedPlaces.has(overlay.place)) return [];
    this.#addedPlaces.add(overlay.place);
    if (!this.#reverts.has(overlay.place)) {
      this.add(overlay);
      return [];
    }
    const { edit } = overlay.entry;
    return isFromLog(edit) ? (edit.lasting ?? []) : [];
  }

  /** Adds the next older overlay; returns false if no older ones matter except those in `lasting`. */
  add(overlay: PlacedOverlay): boolean {
    if (this.#reverts.has(overlay.place)) return true;
    const { edit, session } = overlay.entry;
    if (edit.type === "revert") this.#reverts.add(edit, session);
    const edits = listSingleEdits(edit).filter((_, index) => !this.#reverts.hasEdit(overlay.place, index));
    this.#overlays.push({ ...overlay, edits });
    if (!isFromLog(edit)) return true;
    this.#lasting = edit.lasting ?? [];
    return false;
  }
}

function isFromLog(edit: Edit): edit is Exclude<Edit, RevertEdit> & EditBasis {
  return (edit.type === "plan" || edit.type === "summarize") && edit.isWhole === true;
}
