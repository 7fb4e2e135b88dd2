import { groupSlots } from "../../window/group.ts";
import type { Slot } from "../../window/slot.ts";
import { sumSlotTokens } from "../../window/sum-slot-tokens.ts";
import { divideSlot } from "./divide-slot.ts";

/** Share of the summarizer's window that one part may take. */
const BASE_RATIO = 0.4;
/** Minimum of that share, for conversations with large messages. */
const MIN_RATIO = 0.15;
/** Messages whose average exceeds this share of the window count as large. */
const LARGE_SHARE = 0.1;
/** Margin for uncertain estimates. */
export const SPLIT_SAFETY = 1.2;

/**
 * Maximum tokens of one part: smaller if messages are large relative to the summarizer's window, so that errors even
 * out.
 */
export function computeChunkTokens(slots: readonly Slot[], window: number): number {
  const average = slots.length === 0 ? 0 : (sumSlotTokens(slots) * SPLIT_SAFETY) / slots.length / window;
  const cut = average > LARGE_SHARE ? Math.min(2 * average, BASE_RATIO - MIN_RATIO) : 0;
  return Math.floor((window * (BASE_RATIO - cut)) / SPLIT_SAFETY);
}

/**
 * Splits messages into at least `parts` parts of about equal size at group boundaries, and into more if a part would be
 * too large. A group that is too large is split between its messages, and an oversized message into pieces.
 */
export function splitByTokens(
  slots: readonly Slot[],
  options: { readonly parts: number; readonly mostTokens: number },
): readonly (readonly Slot[])[] {
  const total = sumSlotTokens(slots);
  const wanted = Math.max(1, options.parts, Math.ceil(total / options.mostTokens));
  const share = Math.min(options.mostTokens, Math.ceil(total / wanted));
  const parts: Slot[][] = [];
  let tokens = 0;
  for (const group of groupWithin(slots, options.mostTokens)) {
    const size = sumSlotTokens(group);
    const part = parts.at(-1);
    // A group joins the part if it fits, or if at least half of it does and the part may still grow.
    const fits =
      part && (tokens + size <= share || (tokens + size / 2 <= share && tokens + size <= options.mostTokens));
    if (fits) for (const member of group) part.push(member);
    else parts.push([...group]);
    tokens = fits ? tokens + size : size;
  }
  return parts;
}

function groupWithin(slots: readonly Slot[], mostTokens: number): readonly (readonly Slot[])[] {
  return groupSlots(slots).flatMap(({ from, to }) => {
    const group = slots.slice(from, to + 1);
    if (sumSlotTokens(group) <= mostTokens) return [group];
    return group.flatMap((slot) => divideSlot(slot, mostTokens).map((piece) => [piece]));
  });
}
