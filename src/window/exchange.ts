import type { Group } from "./group.ts";
import type { Slot } from "./slot.ts";

/** The exchanges of a window of groups: whatever comes before a reply, and the reply with the results of its calls. */
export function exchangesOf(slots: readonly Slot[], groups: readonly Group[]): readonly Group[] {
  const exchanges: Group[] = [];
  let start = 0;
  for (const { from, to } of groups) {
    if (!indexesOf({ from, to }).some((index) => slots[index]?.message.role === "assistant")) continue;
    exchanges.push({ from: start, to });
    start = to + 1;
  }
  if (start < slots.length) exchanges.push({ from: start, to: slots.length - 1 });
  return exchanges;
}

/** Indexes of the slots of an exchange. */
export function indexesOf({ from, to }: Group): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
}
