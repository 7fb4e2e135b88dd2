import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";
import type { TokensOf } from "./apply-edits.ts";
import { type ClippedPart, charactersIn, clipPartTo, isClippable } from "./clip-part.ts";
import { sizeOf } from "./size.ts";
import type { Slot } from "./slot.ts";
import { isSystem } from "./speaker.ts";

/** Tells whether a part of a slot stays as it is. */
export type IsFixed = (slot: Slot, part: Part) => boolean;

/** Characters that a clipped part keeps at least; only if that is not enough, nothing but a notice stays. */
const FLOORS = [200, 0] as const;
/** Clipping frees more than it must by this share, so that the next message does not need the next clip. */
const SLACK = 0.05;
const NOTICE_CHARACTERS = 60;
/** Estimates of parts may not add up to those of messages: the rest is clipped in further rounds. */
const MAX_ROUNDS = 4;

interface Candidate {
  readonly slot: number;
  readonly part: number;
  readonly source: Part;
  readonly characters: number;
  readonly tokens: number;
}

/**
 * The last resort, the same for every policy: parts are clipped to one common size, so that the largest give most, until
 * all slots together take no more than so many tokens. Reasoning is never touched, and calls keep their id and name;
 * where these and what is fixed take more, so does the window. Slots that are not clipped stay the very same objects, and
 * system messages always do.
 */
export function rescue(
  slots: readonly Slot[],
  maxTokens: number,
  tokensOf: TokensOf,
  isFixed: IsFixed = () => false,
): readonly Slot[] {
  let window = slots;
  for (const floor of FLOORS) {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const excess = sizeOf(window) - maxTokens;
      if (excess <= 0) return window;
      const next = clipAll(window, excess + maxTokens * SLACK, floor, tokensOf, isFixed);
      if (next === window) break;
      window = next;
    }
  }
  return window;
}

/** The window with its largest parts clipped so that about so many tokens are freed; the very same if nothing can be. */
function clipAll(
  slots: readonly Slot[],
  wantedTokens: number,
  floor: number,
  tokensOf: TokensOf,
  isFixed: IsFixed,
): readonly Slot[] {
  const candidates = candidatesIn(slots, floor, tokensOf, isFixed);
  const level = commonSize(candidates, wantedTokens);
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

function candidatesIn(
  slots: readonly Slot[],
  floor: number,
  tokensOf: TokensOf,
  isFixed: IsFixed,
): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const [slot, own] of slots.entries()) {
    if (isSystem(own)) continue;
    const { role, parts } = own.message;
    for (const [part, source] of parts.entries()) {
      if (!isClippable(source, floor) || isFixed(own, source)) continue;
      const tokens = tokensOf({ role, parts: [source] });
      candidates.push({ slot, part, source, characters: charactersIn(source), tokens });
    }
  }
  return candidates;
}

/** The size that no part may exceed so that so many tokens are freed; 0 if even that does not free enough. */
function commonSize(candidates: readonly Candidate[], wantedTokens: number): number {
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
