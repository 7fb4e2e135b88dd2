import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";
import { listProgramCalls } from "../model/raw-calls.ts";
import type { TokenEstimator } from "./apply-edits.ts";
import { type ClippedPart, clipPartTo, countCharacters, isClippable } from "./clip-part.ts";
import { isSystem } from "./is-system.ts";
import type { Slot } from "./slot.ts";
import { sumSlotTokens } from "./sum-slot-tokens.ts";

/** True if a part of a slot must not change. */
type FixedPartFilter = (slot: Slot, part: Part) => boolean;

/** Minimum characters that a clipped part keeps. If 200 is not short enough, only a notice remains. */
const FLOORS = [200, 0] as const;
/** Clipping frees this extra share, so that the next message does not require clipping again. */
const SLACK = 0.05;
const NOTICE_CHARACTERS = 60;
/** Estimates of parts may not add up to those of messages, so clipping repeats until the window fits. */
const MAX_ROUNDS = 4;

interface ClipCandidate {
  readonly slot: number;
  readonly part: number;
  readonly source: Part;
  readonly characters: number;
  readonly tokens: number;
}

/**
 * Last resort of every policy: clips parts to one common size, so that the largest lose most, until all slots together
 * take at most `maxTokens`. Reasoning and system messages are never touched, and calls keep their id and name; the
 * window exceeds `maxTokens` if these and the fixed parts alone take more. Unclipped slots remain the same objects.
 */
export function clipSlots(
  slots: readonly Slot[],
  maxTokens: number,
  tokensOf: TokenEstimator,
  isFixed: FixedPartFilter = () => false,
): readonly Slot[] {
  let window = slots;
  for (const floor of FLOORS) {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const excess = sumSlotTokens(window) - maxTokens;
      if (excess <= 0) return window;
      const next = clipAll(window, excess + maxTokens * SLACK, floor, tokensOf, isFixed);
      if (next === window) break;
      window = next;
    }
  }
  return window;
}

/** Clips the largest parts to free about `wantedTokens`; returns the same array if nothing can be clipped. */
function clipAll(
  slots: readonly Slot[],
  wantedTokens: number,
  floor: number,
  tokensOf: TokenEstimator,
  isFixed: FixedPartFilter,
): readonly Slot[] {
  const candidates = findCandidates(slots, floor, tokensOf, isFixed);
  const level = computeCommonSize(candidates, wantedTokens);
  const clipped = new Map<number, Map<number, ClippedPart>>();
  for (const { slot, part, source, characters, tokens } of candidates) {
    if (tokens <= level) continue;
    const wanted = Math.floor((characters * level) / tokens) - NOTICE_CHARACTERS;
    const parts = clipped.get(slot) ?? new Map<number, ClippedPart>();
    clipped.set(slot, parts.set(part, clipPartTo(source, Math.max(floor, wanted))));
  }
  let isChanged = false;
  const window = slots.map((slot, index) => {
    const parts = clipped.get(index);
    if (!parts) return slot;
    const message: Message = {
      ...slot.message,
      parts: slot.message.parts.map((own, at) => parts.get(at) ?? own),
    };
    const tokens = tokensOf(message);
    if (tokens >= slot.tokens) return slot;
    isChanged = true;
    return { ...slot, message, original: slot.original ?? slot.message, tokens };
  });
  return isChanged ? window : slots;
}

function findCandidates(
  slots: readonly Slot[],
  floor: number,
  tokensOf: TokenEstimator,
  isFixed: FixedPartFilter,
): readonly ClipCandidate[] {
  const candidates: ClipCandidate[] = [];
  const program = new Set(slots.flatMap(({ message }) => listProgramCalls(message)));
  for (const [slot, own] of slots.entries()) {
    if (isSystem(own)) continue;
    const { role, parts } = own.message;
    for (const [part, source] of parts.entries()) {
      if (!isClippable(source, floor) || isFixed(own, source)) continue;
      if (source.type === "tool-result" && program.has(source.callId)) continue;
      const tokens = tokensOf({ role, parts: [source] });
      candidates.push({ slot, part, source, characters: countCharacters(source), tokens });
    }
  }
  return candidates;
}

/** The size to cap parts at so that `wantedTokens` are freed; 0 if no cap frees enough. */
function computeCommonSize(candidates: readonly ClipCandidate[], wantedTokens: number): number {
  const sizes = candidates.map(({ tokens }) => tokens).sort((one, other) => other - one);
  let freed = 0;
  for (const [index, size] of sizes.entries()) {
    const next = sizes[index + 1] ?? 0;
    const step = (size - next) * (index + 1);
    if (freed + step >= wantedTokens) return size - (wantedTokens - freed) / (index + 1);
    freed += step;
  }
  return 0;
}
