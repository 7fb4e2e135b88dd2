import { checkList } from "../../model/argument-checks.ts";
import {
  type Entry,
  type EntryId,
  formatEntryId,
  type OverlayBody,
  type SessionId,
} from "../../model/entry.ts";
import type { RevertEdit } from "../../model/overlay.ts";
import type { Place } from "../../model/place.ts";

/**
 * Decides which overlays are reverted. Overlays are looked at newest first, because only later ones can revert earlier
 * ones; a revert is added only if it is not reverted itself.
 */
export class Reverts {
  readonly #placeOf: (place: Place) => number | undefined;
  readonly #reverted = new Map<number, Set<number> | "all">();
  #revertedFrom = Number.POSITIVE_INFINITY;

  /** `placeOf` numbers the overlays in their order. */
  constructor(placeOf: (place: Place) => number | undefined) {
    this.#placeOf = placeOf;
  }

  /** Adds a revert of the session `by`. */
  add(revert: RevertEdit, by: SessionId): void {
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

  /** True if the whole overlay at a place is reverted. */
  has(place: number): boolean {
    return place >= this.#revertedFrom || this.#reverted.get(place) === "all";
  }

  /** True if one edit of the plan at a place is reverted. */
  hasEdit(place: number, edit: number): boolean {
    const edits = this.#reverted.get(place);
    return this.has(place) || (edits instanceof Set && edits.has(edit));
  }
}

/** Returns the ids of overlays that later ones revert. `overlays` are those of a line or a log, oldest first. */
export function revertedOverlays(
  overlays: readonly Pick<Entry<OverlayBody>, "session" | "seq" | "edit">[],
): ReadonlySet<EntryId> {
  checkList("overlays", overlays, { session: "text", seq: "number", edit: "object" });
  const ids = overlays.map(({ session, seq }) => formatEntryId(session, seq));
  const places = new Map(ids.map((id, place) => [id, place]));
  const reverts = new Reverts(({ session, seq }) => places.get(formatEntryId(session, seq)));
  const reverted = new Set<EntryId>();
  for (const [place, { session, edit }] of [...overlays.entries()].reverse()) {
    // A revert of everything since an overlay does not reach overlays after itself.
    if (reverts.has(place)) reverted.add(ids[place] as EntryId);
    else if (edit.type === "revert") reverts.add(edit, session);
  }
  return reverted;
}
