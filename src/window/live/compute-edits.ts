import type { SeqRange } from "../../model/line.ts";
import type { Message } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Slot } from "../slot.ts";
import { findGaps, type Stretch } from "./line-places.ts";

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
    if (slot.original && slot.original !== slot.message) edits.push(buildReplacement(slot, slot.original));
  }
  closeGap(line.to);
  return hidden.length > 0 ? [...edits, { type: "hide", ranges: hidden }] : edits;
}

/** The edits that turn a window into another one with the same messages, where some have other parts. */
export function computeTouchUpEdits(before: readonly Slot[], after: readonly Slot[]): readonly SingleEdit[] {
  return after.flatMap(({ seq, message }, index) => {
    const { parts } = (before[index] as Slot).message;
    return message.parts.flatMap((part, at): readonly SingleEdit[] =>
      part === parts[at] ? [] : [{ type: "replace", target: { seq, part: at }, parts: [part] }],
    );
  });
}

function buildReplacement({ seq, message }: Slot, original: Message): SingleEdit {
  const { role, parts } = message;
  return { type: "replace", target: { seq }, parts, ...(role !== original.role && { role }) };
}
