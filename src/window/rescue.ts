import type { Message } from "../model/message.ts";
import type { Part, ToolResultPart } from "../model/part.ts";
import { rawAnswerId, rawCallId } from "../model/raw-calls.ts";
import type { TokensOf } from "./apply-edits.ts";
import { clipText } from "./clip.ts";
import { isSealedPart } from "./protected.ts";
import { sizeOf } from "./size.ts";
import type { Slot } from "./slot.ts";
import { isSystem } from "./speaker.ts";

/** Characters that a clipped part keeps at least; only if that is not enough, nothing but a notice stays. */
const FLOORS = [200, 0] as const;
/** Most that a clipped part keeps, so that the next message does not need the next clip. */
const KEPT_SHARE = 0.7;
const NOTICE_CHARACTERS = 40;

interface Candidate {
  readonly slot: number;
  readonly part: number;
  readonly source: Part;
  /** Of the part as it is now. */
  tokens: number;
  characters: number;
}

/**
 * The last resort, the same for every policy: what may not leave is clipped, the largest part first, until all of it
 * takes no more than so many tokens. Reasoning is never touched, and calls keep their id and name; where these alone
 * take more, so does the window. The latest message of the assistant comes after all others. Slots that are not clipped
 * stay the very same objects; those that are fixed, and system messages, always do.
 */
export function rescue(
  slots: readonly Slot[],
  most: number,
  tokensOf: TokensOf,
  isFixed: (slot: Slot) => boolean = () => false,
): readonly Slot[] {
  let excess = sizeOf(slots) - most;
  if (excess <= 0) return slots;
  const window = [...slots];
  const latest = slots.findLast(({ message }) => message.role === "assistant");
  const clipAll = (isLeftAlone: (slot: Slot) => boolean) => {
    for (const floor of FLOORS) {
      const candidates = candidatesIn(window, tokensOf, isLeftAlone);
      while (excess > 0) {
        const largest = largestOf(candidates, floor);
        if (!largest) break;
        const slot = window[largest.slot] as Slot;
        const clipped = clip(slot, largest, excess, floor, tokensOf);
        excess -= slot.tokens - clipped.tokens;
        window[largest.slot] = clipped;
      }
    }
  };
  clipAll((slot) => slot === latest || isFixed(slot));
  if (excess > 0) clipAll(isFixed);
  return window;
}

function candidatesIn(
  slots: readonly Slot[],
  tokensOf: TokensOf,
  isFixed: (slot: Slot) => boolean,
): readonly Candidate[] {
  return slots.flatMap((own, slot) => {
    if (isFixed(own) || isSystem(own)) return [];
    const { role, parts } = own.message;
    return parts.flatMap((source, part): readonly Candidate[] => {
      const characters = isBound(source) ? undefined : wordsOf(source)?.length;
      if (characters === undefined) return [];
      return [{ slot, part, source, characters, tokens: tokensOf({ role, parts: [source] }) }];
    });
  });
}

function largestOf(candidates: readonly Candidate[], floor: number): Candidate | undefined {
  let largest: Candidate | undefined;
  for (const candidate of candidates) {
    const isClippable = candidate.characters > floor || hasMedia(candidate.source);
    if (isClippable && candidate.tokens > (largest?.tokens ?? 0)) largest = candidate;
  }
  return largest;
}

/** The slot with one part clipped. A part that clipping would not make smaller stays, and is no candidate any more. */
function clip(slot: Slot, candidate: Candidate, excess: number, floor: number, tokensOf: TokensOf): Slot {
  const { source, tokens, characters } = candidate;
  const share = Math.min(KEPT_SHARE, 1 - excess / Math.max(tokens, 1));
  const wanted = Math.floor(characters * share) - NOTICE_CHARACTERS;
  const kept = hasMedia(source) && characters <= floor ? characters : Math.max(floor, wanted);
  const part = clippedTo(source, kept);
  const message: Message = { ...slot.message, parts: slot.message.parts.with(candidate.part, part) };
  const next = tokensOf(message);
  const isSmaller = next < slot.tokens;
  candidate.characters = kept;
  candidate.tokens = isSmaller ? tokensOf({ role: message.role, parts: [part] }) : 0;
  return isSmaller ? { ...slot, message, original: slot.original ?? slot.message, tokens: next } : slot;
}

/** True for a call, the answer to one, or a summary of which only its format knows what may be cut. */
function isBound(part: Part): boolean {
  return rawCallId(part) !== undefined || rawAnswerId(part) !== undefined || isSealedPart(part);
}

/** What can be clipped of a part; undefined where nothing may be. */
function wordsOf(part: Part): string | undefined {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool-result":
      return part.output.map((inner) => wordsOf(inner) ?? "").join("\n");
    case "tool-call":
      return JSON.stringify(part.input);
    case "raw":
      return JSON.stringify(part.value);
    case "blob":
      return part.of === "reasoning" ? undefined : wordsOfBlob(part);
    case "reasoning":
      return undefined;
  }
}

function wordsOfBlob(part: Extract<Part, { type: "blob" }>): string {
  return part.of === undefined ? "" : (part.preview ?? "");
}

/** True for what takes tokens beyond its words: media, and what has spilled out of the log. */
function hasMedia(part: Part): boolean {
  if (part.type === "tool-result") return part.output.some(hasMedia);
  return part.type === "blob";
}

function clippedTo(part: Part, characters: number): Part {
  const text = withNotice(part, clipText(wordsOf(part) ?? "", characters));
  if (part.type === "tool-result") {
    const output: ToolResultPart["output"] = [{ type: "text", text }];
    return { ...part, output };
  }
  if (part.type === "tool-call") return { ...part, input: { cut: text } };
  if (part.type === "blob" && part.of === "tool-call" && part.callId !== undefined)
    return { type: "tool-call", callId: part.callId, name: part.toolName ?? "unknown", input: { cut: text } };
  return { type: "text", text };
}

function withNotice(part: Part, text: string): string {
  if (!hasMedia(part)) return text;
  const isImage = (one: Part) => one.type === "blob" && one.of === undefined;
  const media = part.type === "tool-result" ? part.output.some(isImage) : isImage(part);
  return [text, media ? "[image removed]" : "[the rest was cut]"].filter((line) => line !== "").join("\n");
}
