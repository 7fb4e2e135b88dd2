import type { Group } from "../group.ts";
import { findOldestRemovable, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";
import { getWindowIndex } from "../window-index.ts";

/** Share of the messages after the head that stays. */
type TruncateShare = "half" | "quarter";

/** The part of the beginning that always stays: the first exchange, or only the first user message. */
export type TruncateHead = "exchange" | "message";

interface TruncateOptions {
  /** Default "exchange", which drops whole exchanges; "message" drops whole groups. */
  readonly head?: TruncateHead;
  /** Drops at least one group or exchange if any can leave. */
  readonly isForced?: boolean;
}

const LEAVING_SHARE: Readonly<Record<TruncateShare, number>> = { half: 0.5, quarter: 0.75 };
const REASONS: Readonly<Record<TruncateShare, string>> = {
  half: "truncated to a half",
  quarter: "truncated to a quarter",
};

/** Hides the oldest half or three quarters of the messages after the head, an even number if possible. */
export function truncateMessages(
  keep: TruncateShare,
  { head = "exchange", isForced = false }: TruncateOptions = {},
): Pass {
  return (slots, context) => {
    const { fixed, stretches } = findStretches(slots, head);
    const goal = Math.floor(((slots.length - fixed) * LEAVING_SHARE[keep]) / 2) * 2;
    const least = isForced ? Math.max(1, goal) : goal;
    const kept = findProtectedSeqs(slots, context.pins);
    const units = findOldestRemovable(slots, stretches, kept, (leaving, next) => {
      return leaving >= least || (leaving > 0 && leaving + next > least);
    });
    const leaving = head === "message" ? takeEven(units) : units;
    return proposeHiding(slots, leaving.flat(), REASONS[keep], context);
  };
}

/** The number of slots in the head, and the stretches after it. */
function findStretches(
  slots: readonly Slot[],
  head: TruncateHead,
): { readonly fixed: number; readonly stretches: readonly Group[] } {
  const { exchanges, groups } = getWindowIndex(slots);
  const first = slots.findIndex(({ message }) => message.role === "user");
  if (head === "message") return { fixed: 1, stretches: groups };
  const stretches = exchanges.filter(({ from }, index) => index > 0 && from > first);
  return { fixed: stretches[0]?.from ?? slots.length, stretches };
}

/** The longest prefix with an even number of slots; all units if there is none. */
function takeEven(units: readonly (readonly number[])[]): readonly (readonly number[])[] {
  let count = 0;
  let even = 0;
  for (const [index, unit] of units.entries()) {
    count += unit.length;
    if (count % 2 === 0) even = index + 1;
  }
  return units.slice(0, even || units.length);
}

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
