import { groupsOf } from "../../window/group.ts";
import { sizeOf } from "../../window/size.ts";
import type { Slot } from "../../window/slot.ts";
import { divideSlot } from "./divide-slot.ts";

/** Share of the summariser's window that one part may take, */
const BASE_RATIO = 0.4;
/** and the least of it, for conversations of large messages. */
const LEAST_RATIO = 0.15;
/** From this share of the window on messages count as large. */
const LARGE_SHARE = 0.1;
/** Estimates are uncertain. */
export const SAFETY = 1.2;

/** Tokens of one part: the larger the messages are beside the summariser's window, the less, so that errors even out. */
export function chunkTokens(slots: readonly Slot[], window: number): number {
  const average = slots.length === 0 ? 0 : (sizeOf(slots) * SAFETY) / slots.length / window;
  const cut = average > LARGE_SHARE ? Math.min(2 * average, BASE_RATIO - LEAST_RATIO) : 0;
  return Math.floor((window * (BASE_RATIO - cut)) / SAFETY);
}

/**
 * Splits messages into at least so many parts of about equal tokens, at group boundaries, and into more where a part would
 * be too large. A group that alone is too large is split between its messages, and a message of it into pieces.
 */
export function splitByTokens(
  slots: readonly Slot[],
  options: { readonly parts: number; readonly mostTokens: number },
): readonly (readonly Slot[])[] {
  const total = sizeOf(slots);
  const wanted = Math.max(1, options.parts, Math.ceil(total / options.mostTokens));
  const share = Math.min(options.mostTokens, Math.ceil(total / wanted));
  const parts: Slot[][] = [];
  let tokens = 0;
  for (const group of groupsWithin(slots, options.mostTokens)) {
    const size = sizeOf(group);
    const part = parts.at(-1);
    // A group joins the part if it fits, or if more than half of it does and the part may still grow.
    const fits =
      part && (tokens + size <= share || (tokens + size / 2 <= share && tokens + size <= options.mostTokens));
    if (fits) for (const member of group) part.push(member);
    else parts.push([...group]);
    tokens = fits ? tokens + size : size;
  }
  return parts;
}

function groupsWithin(slots: readonly Slot[], mostTokens: number): readonly (readonly Slot[])[] {
  return groupsOf(slots).flatMap(({ from, to }) => {
    const group = slots.slice(from, to + 1);
    if (sizeOf(group) <= mostTokens) return [group];
    return group.flatMap((slot) => divideSlot(slot, mostTokens).map((piece) => [piece]));
  });
}
