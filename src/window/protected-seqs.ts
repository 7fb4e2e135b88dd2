import type { Part } from "../model/part.ts";
import { listLoadedTools } from "../model/tool-calls.ts";
import { hasOwnText, isInlineToolOutput } from "./inline-tool-output.ts";
import { isSystem } from "./is-system.ts";
import type { Slot } from "./slot.ts";
import { getWindowIndex } from "./window-index.ts";

/**
 * Seqs of the slots that no edit may hide: system messages, the first user message, pinned messages, the newest user
 * message, the last group, the latest assistant message with the results that answer it, the last summary that only its
 * provider can read, and the latest search that found each tool of the conversation.
 */
export function findProtectedSeqs(
  slots: readonly Slot[],
  pins: ReadonlySet<number> = new Set(),
): ReadonlySet<number> {
  const seqs = new Set(findVerbatimSeqs(slots, pins));
  const first = slots.find(isUserSlot);
  if (first) seqs.add(first.seq);
  const { groups } = getWindowIndex(slots);
  const latest = findLatestReply(slots);
  const spared = [groups.at(-1), groups.findLast(({ from, to }) => from <= latest && latest <= to)];
  for (const group of spared) {
    if (!group) continue;
    for (let index = group.from; index <= group.to; index++) seqs.add((slots[index] as Slot).seq);
  }
  const sealed = slots.findLast(isSealed);
  if (sealed) seqs.add(sealed.seq);
  for (const index of findToolSearches(slots)) seqs.add((slots[index] as Slot).seq);
  return seqs;
}

/**
 * Indexes of the messages that make tools known to the model, with the calls that they answer: without the latest search
 * for a tool, the model could no longer call it.
 */
function findToolSearches(slots: readonly Slot[]): readonly number[] {
  const latest = new Map<string, number>();
  for (const [index, { message, isNote }] of slots.entries())
    if (!isNote)
      for (const part of message.parts) for (const name of listLoadedTools(part)) latest.set(name, index);
  if (latest.size === 0) return [];
  const { bonds } = getWindowIndex(slots);
  return [...new Set(latest.values())].flatMap((index) => bonds.get(index) ?? [index]);
}

/**
 * Seqs of the slots that are sent verbatim or not at all: system messages, pinned messages, the newest user message
 * (the question of the running turn), and the latest assistant message.
 */
export function findVerbatimSeqs(
  slots: readonly Slot[],
  pins: ReadonlySet<number> = new Set(),
): ReadonlySet<number> {
  const seqs = new Set(pins);
  for (const slot of slots) if (isSystem(slot)) seqs.add(slot.seq);
  const question = slots[findNewestQuestion(slots)];
  if (question) seqs.add(question.seq);
  const reply = slots[findLatestReply(slots)];
  if (reply) seqs.add(reply.seq);
  return seqs;
}

/** Index of the newest message written by a person; -1 if there is none. */
export function findNewestQuestion(slots: readonly Slot[]): number {
  return slots.findLastIndex((slot, index) => {
    if (slot.isNote) return false;
    const said = slot.original ?? slot.message;
    const before = slots[index - 1];
    return hasOwnText(said) && !isInlineToolOutput(said, before?.original ?? before?.message);
  });
}

function findLatestReply(slots: readonly Slot[]): number {
  return slots.findLastIndex(({ message, isNote }) => message.role === "assistant" && !isNote);
}

const SEALED = /^(?:context_)?compaction(?:_summary)?$/;
const SEALED_BEGINNING = /"type":"(?:context_)?compaction(?:_summary)?"/;

function isSealed({ message, isNote }: Slot): boolean {
  return !isNote && message.role === "assistant" && message.parts.some(isSealedPart);
}

/**
 * True for a summary that only the provider that wrote it can read; dropping it would lose everything it summarizes.
 */
export function isSealedPart(part: Part): boolean {
  if (part.type === "blob" && part.of === "raw") return SEALED_BEGINNING.test(part.preview ?? "");
  if (part.type !== "raw" || typeof part.value !== "object" || part.value === null) return false;
  const { type, encrypted_content } = part.value as { readonly [field: string]: unknown };
  return typeof encrypted_content === "string" && typeof type === "string" && SEALED.test(type);
}

/** True for a user message with content other than tool results; some formats send tool results in the user role. */
function isUserSlot({ message, original = message, isNote }: Slot): boolean {
  return original.role === "user" && !isNote && original.parts.some(({ type }) => type !== "tool-result");
}
