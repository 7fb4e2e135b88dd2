import type { Slot } from "./slot.ts";
import { windowIndex } from "./window-index.ts";

/**
 * Seqs of the slots that no edit may touch: the first user message, what is pinned, the last exchange, the latest
 * message of the assistant with the results that answer it, and the last summary that only its provider can read.
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
  const sealed = slots.findLast(isSealed);
  if (sealed) seqs.add(sealed.seq);
  return seqs;
}

const SEALED: readonly unknown[] = ["compaction", "compaction_summary", "context_compaction"];

/** True for a summary by the provider itself that nobody else can read: without it, all that it stands for is lost. */
function isSealed({ message, isNote }: Slot): boolean {
  if (isNote || message.role !== "assistant") return false;
  return message.parts.some(
    (part) =>
      part.type === "raw" &&
      typeof part.value === "object" &&
      part.value !== null &&
      "encrypted_content" in part.value &&
      "type" in part.value &&
      SEALED.includes(part.value.type),
  );
}

/** True for what a person said, also beside results of tools: those come in the user's name in some formats. */
function isUsers({ message, original = message, isNote }: Slot): boolean {
  return original.role === "user" && !isNote && original.parts.some(({ type }) => type !== "tool-result");
}
