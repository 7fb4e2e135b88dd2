import type { Log } from "../../log/log.ts";
import type { OverlayBody, SessionId } from "../../model/entry.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Slot } from "../slot.ts";
import { appendOverlay } from "./append-overlay.ts";
import { computeEdits, computeTouchUpEdits } from "./compute-edits.ts";
import { findLastingOverlays } from "./find-lasting-overlays.ts";
import type { PlannedEdit } from "./fitted-window.ts";
import type { LoadedWindow } from "./load-window.ts";
import { toStoredEdit } from "./place-edit.ts";

/**
 * Stores the edits that produce `slots` as one overlay. Returns its seq, or undefined if others have edited the window
 * meanwhile.
 */
export function storePlan(
  log: Log,
  session: SessionId,
  window: LoadedWindow,
  slots: readonly Slot[],
  { reason, receipt }: PlannedEdit,
): Promise<number | undefined> {
  const edits = computeEdits(slots, window.line, window.lastingHidden);
  const lasting = findLastingOverlays(window.overlays, window.places);
  const body: OverlayBody = {
    kind: "overlay",
    author: "longhaul",
    reason,
    tokensBefore: receipt.tokens.without,
    tokensAfter: receipt.tokens.with,
    receipt,
    edit: {
      type: "plan",
      isWhole: true,
      ...(lasting.length > 0 && { lasting }),
      edits: edits.map((edit) => toStoredEdit(edit, session, window.places)),
    },
  };
  return appendOverlay(log, session, body, window.head);
}

/**
 * Stores replacements of single messages on top of the edits in force. Returns its seq, or undefined if others have
 * edited the window meanwhile.
 */
export function storeTouchUp(
  log: Log,
  session: SessionId,
  window: LoadedWindow,
  slots: readonly Slot[],
  { reason, receipt }: PlannedEdit,
): Promise<number | undefined> {
  const edits = computeTouchUpEdits(window.slots, slots);
  const body: OverlayBody = {
    kind: "overlay",
    author: "longhaul",
    reason,
    tokensBefore: receipt.tokens.without,
    tokensAfter: receipt.tokens.with,
    receipt,
    edit: { type: "plan", edits: edits.map((edit) => toStoredEdit(edit, session, window.places)) },
  };
  return appendOverlay(log, session, body, window.head);
}

/** Stores a page at the end of a window. Returns its seq, or undefined if others have edited the window meanwhile. */
export function storePage(
  log: Log,
  session: SessionId,
  window: LoadedWindow,
  edit: SingleEdit,
  { reason, receipt }: PlannedEdit,
): Promise<number | undefined> {
  const body: OverlayBody = {
    kind: "overlay",
    author: "longhaul",
    reason,
    tokensBefore: receipt.tokens.without,
    tokensAfter: receipt.tokens.with,
    receipt,
    edit: { type: "plan", edits: [toStoredEdit(edit, session, window.places)] },
  };
  return appendOverlay(log, session, body, window.head);
}
