import type { TokenEstimator } from "../../apply-edits.ts";
import { dropOldPages } from "../../paging/page-note.ts";
import { findNewestQuestion } from "../../protected-seqs.ts";
import { isShrunk } from "../../shrink/result-shrinker.ts";
import type { Slot } from "../../slot.ts";
import { isExtract } from "./extract-notes.ts";

/** A slot with its message before edits. */
export function toOriginal(slot: Slot, tokensOf: TokenEstimator): Slot {
  const { original, ...rest } = slot;
  return original ? { ...rest, message: original, tokens: tokensOf(original) } : slot;
}

/** True if a slot shows a text that its original does not have, and not only fewer parts. */
export function hasNewText({ message, original = message }: Slot): boolean {
  return message.parts.some((part) => part.type === "text" && !original.parts.includes(part));
}

/** The messages of a window in their original form, with summaries at their positions. */
export function listOriginals(window: readonly Slot[], tokensOf: TokenEstimator): readonly Slot[] {
  const bySeq = new Map<number, Slot>();
  const summaries: Slot[] = [];
  for (const slot of dropOldPages(window, findNewestQuestion(window))) {
    if (!slot.isNote) bySeq.set(slot.seq, toOriginal(slot, tokensOf));
    else if (!isExtract(slot)) summaries.push(slot);
  }
  return [...summaries, ...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** Original messages in the form that a window has, where only shortened results distinguish the two. */
export function withShrunk(slots: readonly Slot[], window: readonly Slot[]): readonly Slot[] {
  const bySeq = new Map(window.filter(isShrunk).map((slot) => [slot.seq, slot]));
  return slots.map((slot) => {
    const short = slot.isNote ? undefined : bySeq.get(slot.seq);
    return short && short.original === slot.message ? short : slot;
  });
}

/** True if two windows consist of the same slots. */
export function isSameList(one: readonly Slot[], other: readonly Slot[]): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every((slot, index) => slot === other[index]);
}
