import type { Entry, OverlayBody } from "../../model/entry.ts";
import type { Slot } from "../slot.ts";
import type { LoadedWindow } from "./load-window.ts";

/** Reasons of page overlays begin with this. */
export const PAGE_REASON = "brought back";

/**
 * True if content may have left the window. Pages and shortened tool results do not count: they leave nothing out that
 * the window does not show elsewhere.
 */
export function hasRemovedContent({ overlays, unread }: LoadedWindow): boolean {
  return (
    unread !== undefined ||
    overlays.some(({ entry, edits }) => {
      if (entry.edit.type === "plan" && entry.edit.isWhole) return edits.length > 0;
      return edits.some((edit) => edit.type !== "replace") && !isPageOverlay(entry);
    })
  );
}

/** True for an overlay that stores a page. */
export function isPageOverlay({ reason, edit }: Pick<Entry<OverlayBody>, "reason" | "edit">): boolean {
  return edit.type === "plan" && edit.isWhole !== true && reason.startsWith(PAGE_REASON);
}

/** The overlay that a page of the window comes from. */
export function findPageOverlay(
  { overlays }: LoadedWindow,
  { message }: Slot,
): Entry<OverlayBody> | undefined {
  return overlays.find(({ entry, edits }) =>
    edits.some(
      (edit) => isPageOverlay(entry) && edit.type === "summarize" && edit.messages?.includes(message),
    ),
  )?.entry;
}

/** The place of the last plan that has replaced the window as a whole; 0 if there is none. */
export function findLastPlan({ overlays }: Pick<LoadedWindow, "overlays">): number {
  const isPlan = ({ edit }: (typeof overlays)[number]["entry"]) =>
    edit.type === "plan" && edit.isWhole === true;
  return Math.max(0, ...overlays.map(({ entry, place }) => (isPlan(entry) ? place : 0)));
}
