import type { TokenEstimator } from "./apply-edits.ts";
import { hasReasoning, isReasoning } from "./models/thinking-rule.ts";
import type { Slot } from "./slot.ts";

/**
 * A window without the thinking that no longer holds in it: `before` was sent, and every thought is bound to all that
 * came before it, so those behind the first difference leave. Thoughts that left with an earlier edit stay away.
 */
export function dropUnboundThinking(
  before: readonly Slot[],
  after: readonly Slot[],
  tokensOf: TokenEstimator,
): readonly Slot[] {
  const change = findChange(before, after);
  const sent = after.flatMap((slot, index): readonly Slot[] => {
    if (index < change) return [before[index] as Slot];
    if (slot.isNote || slot.message.role !== "assistant" || !hasReasoning(slot.message)) return [slot];
    const parts = slot.message.parts.filter((part) => !isReasoning(part));
    // Providers refuse an empty message.
    if (parts.length === 0) return [];
    const message = { ...slot.message, parts };
    return [{ ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) }];
  });
  return sent.length === after.length && sent.every((slot, index) => slot === after[index]) ? after : sent;
}

/** Index of the first slot that differs between two windows in anything but its thinking. */
function findChange(before: readonly Slot[], after: readonly Slot[]): number {
  const index = after.findIndex((slot, at) => {
    const own = before[at];
    return !own || own.seq !== slot.seq || own.isNote !== slot.isNote || !isSameButThinking(own, slot);
  });
  return index < 0 ? after.length : index;
}

function isSameButThinking({ message: one }: Slot, { message: other }: Slot): boolean {
  if (one === other) return true;
  if (one.role !== other.role || !(hasReasoning(one) || hasReasoning(other))) return false;
  const [parts, others] = [one, other].map((message) => message.parts.filter((part) => !isReasoning(part)));
  return parts?.length === others?.length && parts?.every((part, at) => part === others?.[at]) === true;
}

/** The replies of a window whose thinking another window no longer sends. */
export function findLostThinking(before: readonly Slot[], after: readonly Slot[]): readonly Slot[] {
  const thinking = new Set(after.flatMap(({ seq, message }) => (hasReasoning(message) ? [seq] : [])));
  return before.filter(
    ({ seq, isNote, message }) =>
      !isNote && message.role === "assistant" && hasReasoning(message) && !thinking.has(seq),
  );
}

/** Estimated tokens of the thinking in slots. */
export function sumThinkingTokens(slots: readonly Slot[], tokensOf: TokenEstimator): number {
  return slots.reduce((sum, { message, tokens }) => {
    if (!hasReasoning(message)) return sum;
    const parts = message.parts.filter((part) => !isReasoning(part));
    return sum + Math.max(0, tokens - tokensOf({ ...message, parts }));
  }, 0);
}
