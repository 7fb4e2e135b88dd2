import type { Pass, PassContext } from "../pass.ts";
import { type Head, truncate } from "../passes/truncate.ts";
import { protectedSeqs, verbatimSeqs } from "../protected.ts";
import { rescue } from "../rescue.ts";
import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";

/**
 * Shrinks a window to at most `most` tokens: repeatedly drops half of it, then the whole head except the user's first
 * message, then the oldest notes. Clips whatever is still too large; protected messages are clipped only if nothing
 * else helps, and pins, the newest question and the latest reply never are.
 */
export function withinBudget(
  slots: readonly Slot[],
  most: number,
  head: Head,
  carryOut: (slots: readonly Slot[], pass: Pass) => readonly Slot[],
  { tokensOf, pins }: PassContext,
): readonly Slot[] {
  let window = slots;
  for (const fixed of new Set<Head>([head, "message"])) {
    while (sizeOf(window) > most) {
      const next = carryOut(window, truncate("half", { head: fixed, isForced: true }));
      if (next === window || next.length === window.length) break;
      window = next;
    }
  }
  if (sizeOf(window) <= most) return window;
  const kept = protectedSeqs(window, pins);
  const rest = withoutNotes(window, kept, most);
  const spared = rescue(rest, most, tokensOf, ({ seq, isNote }) => !isNote && kept.has(seq));
  const verbatim = verbatimSeqs(spared, pins);
  return rescue(spared, most, tokensOf, ({ seq, isNote }, { type }) => {
    return !isNote && verbatim.has(seq) && (type !== "tool-result" || (pins?.has(seq) ?? false));
  });
}

/** Drops the oldest notes until the window fits. */
function withoutNotes(slots: readonly Slot[], kept: ReadonlySet<number>, most: number): readonly Slot[] {
  let excess = sizeOf(slots) - most;
  return slots.filter(({ isNote, seq, tokens }) => {
    if (!isNote || kept.has(seq) || excess <= 0) return true;
    excess -= tokens;
    return false;
  });
}
