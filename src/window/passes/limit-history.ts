import { findOldestRemovable, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { getWindowIndex } from "../window-index.ts";

/** The history that a window may hold. */
interface HistoryLimits {
  readonly messages: number;
  /** Turns since the last summary after which the next one is due. */
  readonly turns: number;
}

const LARGE_WINDOW: HistoryLimits = { messages: 200, turns: Number.POSITIVE_INFINITY };
/** Limits by window size in tokens. They are generous, because catalogues use "k" for both 1,000 and 1,024. */
const LIMITS: readonly (HistoryLimits & { readonly upTo: number })[] = [
  { upTo: 15_999, messages: 20, turns: 10 },
  { upTo: 64 * 1_024, messages: 50, turns: 30 },
  { upTo: 128 * 1_024, messages: 100, turns: 50 },
];

/** The history limits for a window of this many tokens. */
export function getHistoryLimits(windowTokens: number): HistoryLimits {
  return LIMITS.find(({ upTo }) => windowTokens <= upTo) ?? LARGE_WINDOW;
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
