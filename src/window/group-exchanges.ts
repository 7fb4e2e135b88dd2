import type { Group } from "./group.ts";
import type { Slot } from "./slot.ts";

/**
 * Joins the groups of a window into exchanges: the messages before a reply, and the reply with the results of its
 * calls.
 */
export function groupExchanges(slots: readonly Slot[], groups: readonly Group[]): readonly Group[] {
  const exchanges: Group[] = [];
  let start = 0;
  for (const { from, to } of groups) {
    if (!listIndexes({ from, to }).some((index) => slots[index]?.message.role === "assistant")) continue;
    exchanges.push({ from: start, to });
    start = to + 1;
  }
  if (start < slots.length) exchanges.push({ from: start, to: slots.length - 1 });
  return exchanges;
}

/** Slot indexes of an exchange. */
function listIndexes({ from, to }: Group): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
}
