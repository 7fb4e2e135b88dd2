import type { Part } from "../model/part.ts";
import type { PassContext, Proposal } from "./pass.ts";
import type { Slot } from "./slot.ts";

/**
 * Proposes to replace one part. The target is the position and not the call id: some providers reuse ids, and a later
 * result must not be mistaken for this one.
 */
export function replacePart(
  slot: Slot,
  index: number,
  part: Part,
  reason: string,
  { tokensOf }: PassContext,
): Proposal {
  const parts = slot.message.parts.with(index, part);
  const freedTokens = slot.tokens - tokensOf({ ...slot.message, parts });
  return {
    edit: { type: "replace", target: { seq: slot.seq, part: index }, parts: [part] },
    reason,
    freedTokens,
  };
}

/** Like `replacePart`, but proposes nothing if it frees no tokens or if the slot is a note, which has no entry. */
export function shrinkPart(...change: Parameters<typeof replacePart>): readonly Proposal[] {
  const [slot] = change;
  if (slot.isNote) return [];
  const proposal = replacePart(...change);
  return proposal.freedTokens > 0 ? [proposal] : [];
}
