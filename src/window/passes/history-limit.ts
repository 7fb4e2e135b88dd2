import { oldestLeaving, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { windowIndex } from "../window-index.ts";

/** The most messages for windows up to so many tokens; a "k" is read generously, as catalogues mean 1,000 or 1,024. */
const LIMITS = [
  { upTo: 15_999, messages: 20 },
  { upTo: 64 * 1_024, messages: 50 },
  { upTo: 128 * 1_024, messages: 100 },
  { upTo: Number.POSITIVE_INFINITY, messages: 200 },
] as const;

/** How many messages a window of so many tokens may hold. */
export function historyLimitOf(windowTokens: number): number {
  return LIMITS.find(({ upTo }) => windowTokens <= upTo)?.messages ?? 200;
}

/** Hides the oldest exchanges until no more than so many messages are left. */
export function historyLimit(messages: number): Pass {
  return (slots, context) => {
    if (slots.length <= messages) return [];
    const kept = protectedSeqs(slots, context.pins);
    const { exchanges } = windowIndex(slots);
    const units = oldestLeaving(slots, exchanges, kept, (leaving) => slots.length - leaving <= messages);
    return proposeHiding(slots, units.flat(), `more than ${messages} messages`, context);
  };
}
