import type { Message } from "../model/message.ts";
import type { BlobPart, Part, ToolResultPart } from "../model/part.ts";
import { findRawAnswerId, findRawCallId, listLoadedTools, listProgramCalls } from "../model/tool-calls.ts";
import type { TokenEstimator } from "./apply-edits.ts";
import { clipText } from "./clip-text.ts";
import { isSystem } from "./is-system.ts";
import { isSealedPart } from "./protected-seqs.ts";
import { type Slot, sumSlotTokens } from "./slot.ts";

/** A part that replaces a longer one. */
type ClippedPart = Part;

type Output = ToolResultPart["output"][number];

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

/** True if a part can be shortened: its text is longer than `characters`, or it is media. */
function isClippable(part: Part, characters: number): boolean {
  if (isBound(part) || part.type === "reasoning") return false;
  if (part.type === "blob") {
    if (part.of === "reasoning") return false;
    return part.of === undefined || countCharacters(part) > characters;
  }
  if (part.type === "tool-result" && part.output.some(isMedia)) return true;
  return countCharacters(part) > characters;
}

/** Characters of text in a part; for a part stored as a blob, its size in bytes as an approximation. */
function countCharacters(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text.length;
    case "tool-result":
      return part.output.reduce((sum, inner) => sum + countCharacters(inner), 0);
    case "tool-call":
      return JSON.stringify(part.input).length;
    case "raw":
      return JSON.stringify(part.value).length;
    case "blob":
      return part.of === undefined ? 0 : (part.shownCharacters ?? part.sizeBytes);
  }
}

/** Clips the text of a part to about `characters`; a notice replaces media. */
function clipPartTo(part: Part, characters: number): ClippedPart {
  switch (part.type) {
    case "tool-result":
      return { ...part, output: clipOutput(part.output, characters) };
    case "tool-call":
      return { ...part, input: { cut: clipText(JSON.stringify(part.input), characters) } };
    case "blob":
      return clipBlob(part, characters);
    case "raw":
      return { type: "text", text: clipText(JSON.stringify(part.value), characters) };
    default:
      return { type: "text", text: clipText(part.text, characters) };
  }
}

/** Each text of an output keeps its proportional share of the characters. */
function clipOutput(output: ToolResultPart["output"], characters: number): ToolResultPart["output"] {
  const all = output.reduce((sum, inner) => sum + countCharacters(inner), 0);
  const share = all <= characters ? 1 : characters / all;
  return output.map((inner): Output => {
    if (isMedia(inner)) return { type: "text", text: "[image removed]" };
    const own = countCharacters(inner);
    return share === 1 ? inner : (clipPartTo(inner, Math.floor(own * share)) as Output);
  });
}

/** Text in a blob is clipped when it is loaded; only the preview of other large parts is available here. */
function clipBlob(part: BlobPart, characters: number): Part {
  if (part.of === "text") return { ...part, shownCharacters: characters };
  if (part.of === undefined) return { type: "text", text: "[image removed]" };
  const text = [clipText(part.preview ?? "", characters), "[the rest was cut]"].join("\n");
  if (part.of === "tool-call" && part.callId !== undefined)
    return { type: "tool-call", callId: part.callId, name: part.toolName ?? "unknown", input: { cut: text } };
  return { type: "text", text };
}

function isMedia(part: Part): boolean {
  return part.type === "blob" && part.of === undefined;
}

/** True for a raw call, its answer, a summary that only its provider can read, or the result of a search for tools. */
function isBound(part: Part): boolean {
  if (findRawCallId(part) !== undefined || findRawAnswerId(part) !== undefined) return true;
  return isSealedPart(part) || listLoadedTools(part).length > 0;
}
