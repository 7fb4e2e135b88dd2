import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Message } from "../model/message.ts";
import type { Edit } from "../model/overlay.ts";
import type { Part, ToolResultPart } from "../model/part.ts";
import type { Slot } from "./slot.ts";

/** Estimates the tokens of a message. */
export type TokenEstimator = (message: Message) => number;

/** Applies edits to a window, in order. Slots that no edit touches remain the same objects. */
export function applyEdits(
  slots: readonly Slot[],
  edits: readonly Edit[],
  tokensOf: TokenEstimator,
): readonly Slot[] {
  return edits.reduce((window, edit) => applyEdit(window, edit, tokensOf), slots);
}

function applyEdit(slots: readonly Slot[], edit: Edit, tokensOf: TokenEstimator): readonly Slot[] {
  switch (edit.type) {
    case "replace":
      return slots.map((slot) => {
        const message = applyReplacement(slot, edit);
        return message === slot.message ? slot : withMessage(slot, message, tokensOf);
      });
    case "hide":
      return slots.filter((slot) => !isIn(slot, edit.ranges));
    case "summarize":
      return applySummaryEdit(slots, edit, tokensOf);
    case "plan":
      return applyEdits(slots, edit.edits, tokensOf);
    case "revert":
      return slots;
  }
}

function applyReplacement(slot: Slot, { target, parts, role }: Extract<Edit, { type: "replace" }>): Message {
  const { message } = slot;
  if ("callId" in target) {
    const { callId } = target;
    const isTarget = (part: Part): part is ToolResultPart =>
      part.type === "tool-result" && part.callId === callId;
    if (!message.parts.some(isTarget)) return message;
    const output = parts as ToolResultPart["output"];
    return { ...message, parts: message.parts.map((part) => (isTarget(part) ? { ...part, output } : part)) };
  }
  if (slot.isNote || target.seq !== slot.seq) return message;
  if (target.part === undefined) return { ...message, parts, ...dropUndefined({ role }) };
  const { part: index } = target;
  return {
    ...message,
    parts: [...message.parts.slice(0, index), ...parts, ...message.parts.slice(index + 1)],
  };
}

function applySummaryEdit(
  slots: readonly Slot[],
  edit: Extract<Edit, { type: "summarize" }>,
  tokensOf: TokenEstimator,
): readonly Slot[] {
  const isKept = (slot: Slot) => !isIn(slot, edit.ranges) || (!slot.isNote && slot.seq === edit.entry);
  if (!edit.messages || edit.messages.length === 0) return slots.filter(isKept);
  const start = edit.ranges[0]?.from ?? 0;
  const found = slots.findIndex(({ seq }) => seq >= start);
  const at = found < 0 ? slots.length : found;
  const place = slots[at] ?? slots.at(-1);
  const notes = edit.messages.map(
    (message): Slot => ({
      seq: start,
      at: place?.at ?? 0,
      message,
      tokens: tokensOf(message),
      isNote: true,
    }),
  );
  return [...slots.slice(0, at).filter(isKept), ...notes, ...slots.slice(at).filter(isKept)];
}

function isIn(slot: Slot, ranges: readonly { readonly from: number; readonly to: number }[]): boolean {
  return ranges.some(({ from, to }) => from <= slot.seq && slot.seq <= to);
}

function withMessage(slot: Slot, message: Message, tokensOf: TokenEstimator): Slot {
  return { ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) };
}
