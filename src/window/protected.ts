import type { Slot } from "./slot.ts";
import { windowIndex } from "./window-index.ts";

/**
 * Seqs of the slots that no edit may touch: the first user message, what is pinned, the last exchange, and the latest
 * message of the assistant with the results that answer it.
 */
export function protectedSeqs(
  slots: readonly Slot[],
  pins: ReadonlySet<number> = new Set(),
): ReadonlySet<number> {
  const seqs = new Set(pins);
  const first = slots.find(isUsers);
  if (first) seqs.add(first.seq);
  const { groups } = windowIndex(slots);
  const latest = slots.findLastIndex(({ message }) => message.role === "assistant");
  const spared = [groups.at(-1), groups.findLast(({ from, to }) => from <= latest && latest <= to)];
  for (const group of spared) {
    if (!group) continue;
    for (let index = group.from; index <= group.to; index++) seqs.add((slots[index] as Slot).seq);
  }
  return seqs;
}

/** True for what a person said, also beside results of tools: those come in the user's name in some formats. */
function isUsers({ message, original = message, isNote }: Slot): boolean {
  return original.role === "user" && !isNote && original.parts.some(({ type }) => type !== "tool-result");
}
