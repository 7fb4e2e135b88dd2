import { clipSlots } from "../clip-slots.ts";
import type { Pass, PassContext } from "../pass.ts";
import { type TruncateHead, truncateMessages } from "../passes/truncate-messages.ts";
import { findProtectedSeqs, findVerbatimSeqs } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";
import { sumSlotTokens } from "../sum-slot-tokens.ts";

/**
 * Shrinks a window to at most `most` tokens: repeatedly drops half of it, then the whole head except the user's first
 * message, then the oldest notes. Clips whatever is still too large; protected messages are clipped only if nothing
 * else helps, and pins, the newest question and the latest reply never are.
 */
export function shrinkToBudget(
  slots: readonly Slot[],
  most: number,
  head: TruncateHead,
  carryOut: (slots: readonly Slot[], pass: Pass) => readonly Slot[],
  { tokensOf, pins }: PassContext,
): readonly Slot[] {
  let window = slots;
  for (const fixed of new Set<TruncateHead>([head, "message"])) {
    while (sumSlotTokens(window) > most) {
      const next = carryOut(window, truncateMessages("half", { head: fixed, isForced: true }));
      if (next === window || next.length === window.length) break;
      window = next;
    }
  }
  if (sumSlotTokens(window) <= most) return window;
  const kept = findProtectedSeqs(window, pins);
  const rest = dropNotes(window, kept, most);
  const spared = clipSlots(rest, most, tokensOf, ({ seq, isNote }) => !isNote && kept.has(seq));
  const verbatim = findVerbatimSeqs(spared, pins);
  return clipSlots(spared, most, tokensOf, ({ seq, isNote }, { type }) => {
    return !isNote && verbatim.has(seq) && (type !== "tool-result" || (pins?.has(seq) ?? false));
  });
}

/** Drops the oldest notes until the window fits. */
function dropNotes(slots: readonly Slot[], kept: ReadonlySet<number>, most: number): readonly Slot[] {
  let excess = sumSlotTokens(slots) - most;
  return slots.filter(({ isNote, seq, tokens }) => {
    if (!isNote || kept.has(seq) || excess <= 0) return true;
    excess -= tokens;
    return false;
  });
}
