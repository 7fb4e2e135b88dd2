import type { Log } from "../../log/log.ts";
import type { Entry, OverlayBody, SessionId } from "../../model/entry.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Slot } from "../slot.ts";
import { appendOverlay } from "./append-overlay.ts";
import { computeEdits, computeTouchUpEdits } from "./compute-edits.ts";
import { findLastingOverlays } from "./find-lasting-overlays.ts";
import type { PlannedEdit } from "./fitted-window.ts";
import type { LoadedWindow } from "./load-window.ts";
import { toStoredEdit } from "./place-edit.ts";

/** Stores edits of a session's window as overlays. Each method returns undefined if others have edited it meanwhile. */
export class PlanWriter {
  readonly #log: Log;
  readonly #session: SessionId;
  readonly #isOwn: (overlay: number) => boolean;

  /** `isOwn` recognizes overlays that the caller has written and applied already. */
  constructor(log: Log, session: SessionId, isOwn: (overlay: number) => boolean) {
    this.#log = log;
    this.#session = session;
    this.#isOwn = isOwn;
  }

  /** Stores all edits that produce `slots` from the log, in place of earlier plans. */
  storePlan(window: LoadedWindow, slots: readonly Slot[], planned: PlannedEdit) {
    const lasting = findLastingOverlays(window.overlays, window.places);
    const edits = computeEdits(slots, window.line, window.lastingHidden);
    return this.#append(window, edits, planned, {
      isWhole: true,
      ...(lasting.length > 0 && { lasting }),
      ...(window.held.length > 0 && { held: window.held }),
    });
  }

  /** Stores replacements of single messages on top of the edits in force. */
  storeTouchUp(window: LoadedWindow, slots: readonly Slot[], planned: PlannedEdit) {
    return this.#append(window, computeTouchUpEdits(window.slots, slots), planned);
  }

  /** Stores a page at the end of a window. */
  storePage(window: LoadedWindow, edit: SingleEdit, planned: PlannedEdit) {
    return this.#append(window, [edit], planned);
  }

  /** Takes an overlay of ours back. */
  revert(window: LoadedWindow, { session, seq }: Entry<OverlayBody>, reason: string) {
    const own = session === this.#session ? {} : { session };
    return this.#write(window, { reason, edit: { type: "revert", overlay: seq, ...own } });
  }

  #append(
    window: LoadedWindow,
    edits: readonly SingleEdit[],
    { reason, receipt }: PlannedEdit,
    basis: Pick<Extract<OverlayBody["edit"], { type: "plan" }>, "isWhole" | "lasting" | "held"> = {},
  ) {
    const stored = edits.map((edit) => toStoredEdit(edit, this.#session, window.places));
    const { without: tokensBefore, with: tokensAfter } = receipt.tokens;
    const edit = { type: "plan", ...basis, edits: stored } as const;
    return this.#write(window, { reason, tokensBefore, tokensAfter, receipt, edit });
  }

  #write({ head }: LoadedWindow, body: Omit<OverlayBody, "kind" | "author">) {
    const overlay: OverlayBody = { kind: "overlay", author: "longhaul", ...body };
    const isInTheWay = ({ seq }: Entry) => !this.#isOwn(seq);
    return appendOverlay(this.#log, this.#session, overlay, head, isInTheWay);
  }
}
