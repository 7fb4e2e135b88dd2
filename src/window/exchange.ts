import { type Group, groupsOf } from "./group.ts";
import type { Slot } from "./slot.ts";

/** The exchanges of a window: whatever comes before a reply, and the reply with the results of its calls. */
export function exchangesOf(slots: readonly Slot[]): readonly Group[] {
  const exchanges: Group[] = [];
  let start = 0;
  for (const { from, to } of groupsOf(slots)) {
    if (!slots.slice(from, to + 1).some(({ message }) => message.role === "assistant")) continue;
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
