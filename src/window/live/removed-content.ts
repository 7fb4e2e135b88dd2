import type { LoadedWindow } from "./load-window.ts";

/**
 * True if content may have left the window. Shortened tool results do not count: the lines they leave out stand
 * elsewhere in the window, or say nothing.
 */
export function hasRemovedContent({ overlays }: LoadedWindow): boolean {
  return overlays.some(({ entry: { edit } }) => !isTouchUp(edit));
}

/** The place of the last plan that has replaced the window as a whole; 0 if there is none. */
export function findLastPlan({ overlays }: Pick<LoadedWindow, "overlays">): number {
  const isPlan = ({ edit }: (typeof overlays)[number]["entry"]) =>
    edit.type === "plan" && edit.isWhole === true;
  return Math.max(0, ...overlays.map(({ entry, place }) => (isPlan(entry) ? place : 0)));
}

function isTouchUp(edit: LoadedWindow["overlays"][number]["entry"]["edit"]): boolean {
  return edit.type === "plan" && edit.isWhole !== true && edit.edits.every(({ type }) => type === "replace");
}
