import type { LoadedWindow } from "./load-window.ts";

/**
 * True if content may have left the window. Shortened tool results do not count: the lines they leave out stand
 * elsewhere in the window, or say nothing.
 */
export function hasRemovedContent({ overlays }: LoadedWindow): boolean {
  return overlays.some(({ entry: { edit } }) => {
    const isTouchUp =
      edit.type === "plan" && edit.isWhole !== true && edit.edits.every(({ type }) => type === "replace");
    return !isTouchUp;
  });
}
