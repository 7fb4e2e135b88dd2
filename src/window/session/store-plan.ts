import type { Log } from "../../log/log.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Entry, OverlayBody, SessionId } from "../../model/entry.ts";
import type { SeqRange } from "../../model/line.ts";
import type { Message } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Slot } from "../slot.ts";
import { appendOverlay } from "./append-overlay.ts";
import { findLastingOverlays } from "./find-lasting-overlays.ts";
import type { PlannedEdit } from "./fitted-window.ts";
import { findGaps, type Stretch } from "./line-places.ts";
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
    return this.#append(
      window,
      edits,
      planned,
      dropUndefined({
        isWhole: true,
        lasting: lasting.length > 0 ? lasting : undefined,
        held: window.held.length > 0 ? window.held : undefined,
      }),
    );
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
  revert(window: LoadedWindow, { session, seq }: Entry<OverlayBody>, planned: PlannedEdit) {
    const own = session === this.#session ? {} : { session };
    return this.#write(window, { type: "revert", overlay: seq, ...own }, planned);
  }

  #append(
    window: LoadedWindow,
    edits: readonly SingleEdit[],
    planned: PlannedEdit,
    basis: Pick<Extract<OverlayBody["edit"], { type: "plan" }>, "isWhole" | "lasting" | "held"> = {},
  ) {
    const stored = edits.map((edit) => toStoredEdit(edit, this.#session, window.places));
    return this.#write(window, { type: "plan", ...basis, edits: stored }, planned);
  }

  #write({ head }: LoadedWindow, edit: OverlayBody["edit"], { reason, receipt }: PlannedEdit) {
    const { without: tokensBefore, with: tokensAfter } = receipt.tokens;
    const facts = { reason, tokensBefore, tokensAfter, receipt };
    const overlay: OverlayBody = { kind: "overlay", author: "longhaul", ...facts, edit };
    const isInTheWay = ({ seq }: Entry) => !this.#isOwn(seq);
    return appendOverlay(this.#log, this.#session, overlay, head, isInTheWay);
  }
}

/**
 * The edits, in places, that turn the log into this window: missing messages are hidden, notes replace the messages
 * hidden at their position, and changed messages are replaced. Stretches in `hiddenAnyway` are left to the edits that
 * already hide them.
 */
export function computeEdits(
  window: readonly Slot[],
  line: Stretch,
  hiddenAnyway: readonly Stretch[] = [],
): readonly SingleEdit[] {
  const edits: SingleEdit[] = [];
  const hidden: SeqRange[] = [];
  let next = line.from;
  let notes: Message[] = [];
  const closeGap = (to: number) => {
    const ranges = findGaps(hiddenAnyway, { from: next, to }).map((gap) => ({ session: "", ...gap }));
    const place = { session: "", from: next, to: next - 1 };
    if (notes.length > 0)
      edits.push({ type: "summarize", ranges: ranges.length > 0 ? ranges : [place], messages: notes });
    else for (const range of ranges) hidden.push(range);
    notes = [];
  };
  for (const slot of window) {
    if (slot.isNote) {
      notes.push(slot.message);
      continue;
    }
    closeGap(slot.seq - 1);
    next = slot.seq + 1;
    if (slot.original && slot.original !== slot.message)
      edits.push(...buildReplacements(slot, slot.original));
  }
  closeGap(line.to);
  return hidden.length > 0 ? [...edits, { type: "hide", ranges: hidden }] : edits;
}

/** The edits that turn a window into another one with the same messages, where some have other parts. */
function computeTouchUpEdits(before: readonly Slot[], after: readonly Slot[]): readonly SingleEdit[] {
  return after.flatMap(({ seq, message }, index) => {
    const { parts } = (before[index] as Slot).message;
    return message.parts.flatMap((part, at): readonly SingleEdit[] =>
      part === parts[at] ? [] : [{ type: "replace", target: { seq, part: at }, parts: [part] }],
    );
  });
}

/** The edits that turn a message into its edited form: its lost parts, where it has lost parts and nothing else. */
function buildReplacements({ seq, message }: Slot, original: Message): readonly SingleEdit[] {
  const { role, parts } = message;
  const kept = original.parts.filter((part) => parts.includes(part));
  const isShortened = role === original.role && parts.every((part, at) => part === kept[at]);
  if (!isShortened || kept.length !== parts.length)
    return [{ type: "replace", target: { seq }, parts, ...(role !== original.role && { role }) }];
  // From the last on, so that the places of the others stay.
  return original.parts
    .flatMap((part, at) => (parts.includes(part) ? [] : [at]))
    .toReversed()
    .map((part): SingleEdit => ({ type: "replace", target: { seq, part }, parts: [] }));
}
