import { hasReasoning, isReasoning, needsReasoning } from "../models/thinking-rule.ts";
import type { Pass, Proposal } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";

/** Removes all reasoning, except that of the latest `keepTurns` turns that have any. */
export function clearReasoning({ keepTurns }: { readonly keepTurns: number }): Pass {
  return (slots, { tokensOf, pins }) => {
    const turns = numberTurns(slots);
    const thinking = new Set(turns.filter((_, index) => hasReasoning((slots[index] as Slot).message)));
    const kept = new Set(keepTurns > 0 ? [...thinking].slice(-keepTurns) : []);
    const spared = findProtectedSeqs(slots, pins);
    return slots.flatMap((slot, index): readonly Proposal[] => {
      const { seq, message, isNote, tokens } = slot;
      if (isNote || kept.has(turns[index] as number) || spared.has(seq) || needsReasoning(message)) return [];
      const parts = message.parts.filter((part) => !isReasoning(part));
      // Providers refuse an empty message.
      if (parts.length === message.parts.length || parts.length === 0) return [];
      const freedTokens = tokens - tokensOf({ ...message, parts });
      return [{ edit: { type: "replace", target: { seq }, parts }, reason: "old reasoning", freedTokens }];
    });
  };
}

/** The turn number of each slot. A turn begins with a user message; messages with tool results continue it. */
export function numberTurns(slots: readonly Slot[]): readonly number[] {
  let turn = 0;
  return slots.map(({ message, original = message, isNote }) => {
    const isSaid = original.role === "user" && !original.parts.some(({ type }) => type === "tool-result");
    return !isNote && isSaid ? ++turn : turn;
  });
}
