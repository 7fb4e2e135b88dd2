import type { Message } from "../../../src/model/message.ts";
import type { Part } from "../../../src/model/part.ts";
import { listAnsweredCallIds, listCallIds } from "../../../src/model/tool-calls.ts";
import { groupSlots } from "../../../src/window/group.ts";
import { findNewestQuestion, findVerbatimSeqs } from "../../../src/window/protected-seqs.ts";
import type { Slot } from "../../../src/window/slot.ts";

/** An additive token count, so that a message never takes less than a subset of its parts. */
export function tokensOf(message: Message): number {
  return message.parts.reduce((sum, part) => sum + partTokens(part), 2);
}

export function partTokens(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return Math.ceil(part.text.length / 4);
    case "tool-call":
      return 10 + Math.ceil(JSON.stringify(part.input).length / 4);
    case "tool-result":
      return part.output.reduce((sum, inner) => sum + partTokens(inner), 5);
    case "blob":
      return part.of === undefined ? 300 : Math.ceil((part.shownCharacters ?? part.sizeBytes) / 4);
    case "raw":
      return Math.ceil(JSON.stringify(part.value).length / 4);
  }
}

/** Places of calls without a later result and of results without an earlier call, as "seq id". */
export function orphansIn(slots: readonly Slot[]): ReadonlySet<string> {
  const open = new Map<string, number>();
  const called = new Set<string>();
  const orphans = new Set<string>();
  for (const { seq, message } of slots) {
    for (const part of message.parts) {
      for (const callId of listCallIds({ ...message, parts: [part] })) {
        if (!open.has(callId)) open.set(callId, seq);
        called.add(callId);
      }
      for (const callId of listAnsweredCallIds({ ...message, parts: [part] })) {
        if (!called.has(callId)) orphans.add(`result ${seq} ${callId}`);
        open.delete(callId);
      }
    }
  }
  for (const [callId, seq] of open) orphans.add(`call ${seq} ${callId}`);
  return orphans;
}

/** Whether an id is used by more than one call, so that ids do not identify orphans. */
export function reusesIds(slots: readonly Slot[]): boolean {
  const ids = slots.flatMap(({ message }) => listCallIds(message));
  return new Set(ids).size < ids.length;
}

/** Seqs of results without an earlier call. */
export function withoutCall(slots: readonly Slot[]): ReadonlySet<number> {
  const called = new Set<string>();
  const seqs = new Set<number>();
  for (const { seq, message } of slots) {
    for (const callId of listCallIds(message)) called.add(callId);
    if (listAnsweredCallIds(message).some((callId) => !called.has(callId))) seqs.add(seq);
  }
  return seqs;
}

/**
 * Seqs that are never hidden: system messages, the first and the newest user message, the last group,
 * the latest reply, and pins.
 */
export function untouchable(slots: readonly Slot[], pins: ReadonlySet<number>): ReadonlySet<number> {
  const isFixed = ({ seq, message, isNote }: Slot) => pins.has(seq) || (message.role === "system" && !isNote);
  const seqs = new Set(slots.filter(isFixed).map(({ seq }) => seq));
  const first = slots.find(({ message, original = message, isNote }) => {
    const isSaid = original.parts.some(({ type }) => type !== "tool-result");
    return original.role === "user" && isSaid && !isNote;
  });
  if (first) seqs.add(first.seq);
  const question = slots[findNewestQuestion(slots)];
  if (question) seqs.add(question.seq);
  const groups = groupSlots(slots);
  const reply = slots.findLastIndex(({ message }) => message.role === "assistant");
  for (const { from, to } of groups) {
    const isLast = to === slots.length - 1;
    if (isLast || (from <= reply && reply <= to))
      for (const { seq } of slots.slice(from, to + 1)) seqs.add(seq);
  }
  return seqs;
}

/** Slots that cannot leave without some of these: they share their group, calls or results. */
export function tiedTo(some: ReadonlySet<Slot>, slots: readonly Slot[]): ReadonlySet<Slot> {
  const tied = new Set(some);
  const groups = groupSlots(slots).map(({ from, to }) => slots.slice(from, to + 1));
  const idsOf = ({ message }: Slot) => [...listCallIds(message), ...listAnsweredCallIds(message)];
  for (let count = -1; count !== tied.size; ) {
    count = tied.size;
    const ids = new Set([...tied].flatMap(idsOf));
    for (const slot of slots) if (idsOf(slot).some((id) => ids.has(id))) tied.add(slot);
    for (const group of groups)
      if (group.some((slot) => tied.has(slot))) for (const slot of group) tied.add(slot);
  }
  return tied;
}

/**
 * True if nothing can be made smaller: only pins, system messages, the newest question, the latest reply, reasoning,
 * ids and names of calls, and clip notices are left.
 */
export function isBare(slots: readonly Slot[], pins: ReadonlySet<number>): boolean {
  const verbatim = findVerbatimSeqs(slots, pins);
  const isBarePart = (part: Part) => part.type === "reasoning" || partTokens(part) <= 45;
  return slots.every(
    ({ seq, message }) =>
      pins.has(seq) ||
      message.parts.every((part) => isBarePart(part) || (verbatim.has(seq) && part.type !== "tool-result")),
  );
}
