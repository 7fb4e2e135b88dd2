import type { Part } from "../../../model/part.ts";
import type { TokenEstimator } from "../../apply-edits.ts";
import { clipSlots } from "../../clip-slots.ts";
import { findVerbatimSeqs } from "../../protected-seqs.ts";
import { type Slot, sumSlotTokens } from "../../slot.ts";

/** Limits of clipping. */
interface ClipRules {
  /** Seqs of messages that are clipped only if nothing else can be. */
  readonly kept: ReadonlySet<number>;
  readonly pins: ReadonlySet<number>;
  readonly tokensOf: TokenEstimator;
}

/**
 * Content that may not leave but is too large is clipped to this share of the room, so that the next message does not
 * clip it again.
 */
const CLIPPED_SHARE = 0.85;
/** A note up to this share of the room is clipped only if nothing else can be. */
const NOTE_SHARE = 0.25;
/** In a smaller room there is no space for notes next to messages that may not leave. */
export const MIN_NOTED_TOKENS = 4_000;

/** Clips messages until they fit into a room: those that may leave first, then notes, output and protected messages. */
export function clipToRoom(
  slots: readonly Slot[],
  room: number,
  { kept, pins, tokensOf }: ClipRules,
): readonly Slot[] {
  const verbatim = findVerbatimSeqs(slots, pins);
  const isOutput = ({ seq }: Slot, { type }: Part) => type === "tool-result" && !pins.has(seq);
  // A note names the steps of the running turn: without it the agent would take them again.
  const isBrief = ({ tokens }: Slot) => room >= MIN_NOTED_TOKENS && tokens <= room * NOTE_SHARE;
  const isKept = (slot: Slot, part: Part) => kept.has(slot.seq) && !isOutput(slot, part);
  let window = clipSlots(slots, room, tokensOf, (slot) => (slot.isNote ? isBrief(slot) : kept.has(slot.seq)));
  for (const isFixed of [
    (slot: Slot, part: Part) => (slot.isNote ? isBrief(slot) : isKept(slot, part)),
    (slot: Slot, part: Part) => !slot.isNote && isKept(slot, part),
    (slot: Slot, part: Part) => !slot.isNote && verbatim.has(slot.seq) && !isOutput(slot, part),
  ])
    if (sumSlotTokens(window) > room) window = clipSlots(window, room * CLIPPED_SHARE, tokensOf, isFixed);
  return window;
}
