import type { Pass, PassContext } from "../pass.ts";
import { type Head, truncate } from "../passes/truncate.ts";
import { protectedSeqs, verbatimSeqs } from "../protected.ts";
import { rescue } from "../rescue.ts";
import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";

/**
 * The window in at most so many tokens: half of it leaves again and again, then all of the beginning but what the user
 * said first, then the oldest notes; what still is too much is clipped, what is protected only if nothing else helps, and
 * pins, the newest question and the latest reply never.
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

/** Without as many of the oldest notes as have to leave. */
function withoutNotes(slots: readonly Slot[], kept: ReadonlySet<number>, most: number): readonly Slot[] {
  let excess = sizeOf(slots) - most;
  return slots.filter(({ isNote, seq, tokens }) => {
    if (!isNote || kept.has(seq) || excess <= 0) return true;
    excess -= tokens;
    return false;
  });
}
