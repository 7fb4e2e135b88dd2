import { findOldestRemovable, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { getWindowIndex } from "../window-index.ts";

/**
 * Maximum number of messages by window size in tokens. The limits are generous, because catalogues use "k" for both
 * 1,000 and 1,024.
 */
const LIMITS = [
  { upTo: 15_999, messages: 20 },
  { upTo: 64 * 1_024, messages: 50 },
  { upTo: 128 * 1_024, messages: 100 },
  { upTo: Number.POSITIVE_INFINITY, messages: 200 },
] as const;

/** Maximum number of messages for a window of this many tokens. */
export function getHistoryLimit(windowTokens: number): number {
  return LIMITS.find(({ upTo }) => windowTokens <= upTo)?.messages ?? 200;
}

/** Hides the oldest exchanges until at most `messages` remain. */
export function limitHistory(messages: number): Pass {
  return (slots, context) => {
    if (slots.length <= messages) return [];
    const kept = findProtectedSeqs(slots, context.pins);
    const { exchanges } = getWindowIndex(slots);
    const units = findOldestRemovable(
      slots,
      exchanges,
      kept,
      (leaving) => slots.length - leaving <= messages,
    );
    return proposeHiding(slots, units.flat(), `more than ${messages} messages`, context);
  };
}
