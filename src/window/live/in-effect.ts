import type { Entry, OverlayBody } from "../../model/entry.ts";
import type { Edit, Reverting, SingleEdit } from "../../model/overlay.ts";
import type { Place } from "../../model/place.ts";

/** An overlay with its place on the line. */
export interface PlacedOverlay {
  readonly place: number;
  readonly entry: Entry<OverlayBody>;
}

/** An overlay that holds, with those of its edits that were not taken back; none for one that takes another back. */
export interface HoldingOverlay extends PlacedOverlay {
  readonly edits: readonly SingleEdit[];
}

/**
 * Decides which overlays hold. They are told newest first, for only later ones can take one back; once a plan holds that
 * was made from the log, those before it matter only if it names them.
 */
export class InEffect {
  readonly #holding: HoldingOverlay[] = [];
  readonly #reverted = new Map<number, Set<number> | "all">();
  readonly #placeOf: (place: Place) => number | undefined;
  #revertedFrom = Number.POSITIVE_INFINITY;
  /** Overlays that hold although they are older than a plan that was made from the log. */
  #lasting: readonly Place[] = [];

  constructor(placeOf: (place: Place) => number | undefined) {
    this.#placeOf = placeOf;
  }

  /** Those that hold, oldest first. */
  get holding(): readonly HoldingOverlay[] {
    return this.#holding.toReversed();
  }

  /** Overlays that still have to be told once `add` has said that no other matters; newest first. */
  get lasting(): readonly Place[] {
    return this.#lasting;
  }

  /** Takes in the next older overlay; false if those before it do not matter, but for `lasting`. */
  add(overlay: PlacedOverlay): boolean {
    const { edit, session } = overlay.entry;
    const reverted = this.#reverted.get(overlay.place);
    if (overlay.place >= this.#revertedFrom || reverted === "all") return true;
    if (edit.type === "revert") this.#take(edit, session);
    const edits = singlesOf(edit).filter((_, index) => !reverted?.has(index));
    this.#holding.push({ ...overlay, edits });
    if (edit.type !== "plan" || !edit.isWhole) return true;
    this.#lasting = edit.lasting ?? [];
    return false;
  }

  #take(revert: Reverting, by: string): void {
    const place = this.#placeOf({ session: revert.session ?? by, seq: revert.overlay });
    if (place === undefined) return;
    if (revert.since) this.#revertedFrom = Math.min(this.#revertedFrom, place);
    if (revert.edit === undefined) {
      this.#reverted.set(place, "all");
      return;
    }
    const known = this.#reverted.get(place);
    if (known === "all") return;
    this.#reverted.set(place, new Set([...(known ?? []), revert.edit]));
  }
}

function singlesOf(edit: Edit): readonly SingleEdit[] {
  if (edit.type === "revert") return [];
  return edit.type === "plan" ? edit.edits : [edit];
}
