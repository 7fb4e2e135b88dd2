import { groupsOf } from "./group.ts";
import type { Slot } from "./slot.ts";

/**
 * Seqs of the slots that no edit may touch: the first user message, what is pinned, the last exchange, and the latest
 * message of the assistant with the results that answer it.
 */
export function protectedSeqs(
  slots: readonly Slot[],
  pins: ReadonlySet<number> = new Set(),
): ReadonlySet<number> {
  const seqs = new Set(pins);
  const first = slots.find(({ message }) => message.role === "user");
  if (first) seqs.add(first.seq);
  const groups = groupsOf(slots);
  const latest = slots.findLastIndex(({ message }) => message.role === "assistant");
  for (const [index, { from, to }] of groups.entries()) {
    if (index < groups.length - 1 && !(from <= latest && latest <= to)) continue;
    for (const { seq } of slots.slice(from, to + 1)) seqs.add(seq);
  }
  return seqs;
}
