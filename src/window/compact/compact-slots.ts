import { type Message, textOfMessage } from "../../model/message.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import type { Group } from "../group.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { getWindowIndex } from "../window-index.ts";
import { extractSummary } from "./extractive/extract-summary.ts";

/** Options for compacting the slots of a window. */
interface CompactSlotsOptions {
  readonly tokensOf: TokenEstimator;
  readonly pins?: ReadonlySet<number>;
  /** Wishes of the requester for the summary. */
  readonly instructions?: string | undefined;
}

const TITLE = "[Summary of the conversation so far]";
const LAST_MESSAGES = 3;
const MAX_SUMMARY_TOKENS = 4_000;
const MIN_SUMMARY_TOKENS = 300;
const SUMMARY_SHARE = 0.2;

/**
 * Replaces all groups except the protected and the latest ones with an extractive summary; an earlier summary is
 * updated. Returns the same array if that saves nothing.
 */
export function compactSlots(slots: readonly Slot[], options: CompactSlotsOptions): readonly Slot[] {
  const { tokensOf, instructions } = options;
  const staying = findStayingSlots(slots, options.pins);
  const left = slots.filter((_, index) => !staying.has(index));
  const said = left.filter(({ isNote }) => !isNote);
  if (said.length === 0) return slots;
  const previous = left.find(isCompactionSlot);
  const size = sumSlotTokens(left);
  const { text } = extractSummary(said.map(toOriginalSlot), {
    maxTokens: Math.floor(Math.max(MIN_SUMMARY_TOKENS, Math.min(MAX_SUMMARY_TOKENS, size * SUMMARY_SHARE))),
    previous: previous && textOfMessage(previous.message).slice(TITLE.length + 1),
    instructions,
  });
  const message: Message = { role: "user", parts: [{ type: "text", text: `${TITLE}\n${text}` }] };
  const tokens = tokensOf(message);
  if (tokens >= size) return slots;
  const { seq, at } = left[0] as Slot;
  const place = slots.indexOf(left[0] as Slot);
  return slots.flatMap((slot, index): readonly Slot[] => {
    const summary = index === place ? [{ seq, at, message, tokens, isNote: true }] : [];
    return staying.has(index) ? [...summary, slot] : summary;
  });
}

/** True for a summary written by `compactSlots`. */
export function isCompactionSlot({ isNote, message }: Slot): boolean {
  const [part] = message.parts;
  return isNote === true && part?.type === "text" && part.text.startsWith(TITLE);
}

/** Indexes of the slots that stay: whole groups, with all slots bound to them by calls and results. */
function findStayingSlots(
  slots: readonly Slot[],
  pins: ReadonlySet<number> | undefined,
): ReadonlySet<number> {
  const { groups, bonds } = getWindowIndex(slots);
  const kept = findProtectedSeqs(slots, pins);
  const isFixed = (index: number) => {
    const { seq, isNote } = slots[index] as Slot;
    return !isNote && kept.has(seq);
  };
  const groupOf = new Map<number, Group>();
  for (const group of groups)
    for (let index = group.from; index <= group.to; index++) groupOf.set(index, group);
  const last = slots.length - LAST_MESSAGES;
  const staying = new Set<number>();
  const open = [...slots.keys()].filter((index) => index >= last || isFixed(index));
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (staying.has(index)) continue;
    const { from, to } = groupOf.get(index) ?? { from: index, to: index };
    for (let member = from; member <= to; member++) {
      staying.add(member);
      for (const bond of bonds.get(member) ?? []) open.push(bond);
    }
  }
  return staying;
}

function toOriginalSlot({ original, ...slot }: Slot): Slot {
  return original ? { ...slot, message: original } : slot;
}
