import type { Part } from "../model/part.ts";
import type { PassContext, Proposal } from "./pass.ts";
import type { Slot } from "./slot.ts";

/**
 * Another part in the place of one. The target is the place, not the call id: some providers use an id again, and a
 * later result must not be taken for this one.
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

/** The same, but only if it gives tokens back, and never in a note, which no entry holds. */
export function shrinkPart(...change: Parameters<typeof replacePart>): readonly Proposal[] {
  const [slot] = change;
  if (slot.isNote) return [];
  const proposal = replacePart(...change);
  return proposal.freedTokens > 0 ? [proposal] : [];
}
