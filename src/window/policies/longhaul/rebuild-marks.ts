import type { TokenEstimator } from "../../apply-edits.ts";
import { dropOldPages, isPage } from "../../paging/page-note.ts";
import type { CachePrices, PolicyLimits } from "../../policy.ts";
import { findNewestQuestion } from "../../protected-seqs.ts";
import { isShrunk } from "../../shrink/result-shrinker.ts";
import type { Slot } from "../../slot.ts";
import { isExtract } from "./extract-notes.ts";

/** Between rebuilds the window may always grow by this times the root below, however expensive reads are. */
const MIN_STRETCH = 2;
const MIN_CALL_TOKENS = 200;
/**
 * Shares of the room where the limit forces content out after a person has brought content back: of all messages that
 * stay, and of the held ones. They are small enough that the next edit is as far away as without the undo, because an
 * undo must not make a window edit for good; later edits leave no more than others do.
 */
const UNDONE_SHARES = { first: 0.33, later: 0.25 };
const HELD_SHARES = { first: 0.26, later: 0.13 };
/** Conditions of a rebuild while the cache is cold: tokens of tool calls in the window, and tokens that are new. */
const COLD_TOKENS = 8_000;
const MIN_NEW_TOKENS = 2_000;
/** Without a cache, this share of a rebuilt window must be new since the last rebuild. */
const NEW_SHARE = 0.1;

/**
 * The size that a rebuild goes down to: a share of the room after system prompt and tools, but never above a target.
 */
export function computeLowMark(limits: PolicyLimits, share: number, target: number): number {
  const { system, tokens } = limits;
  return Math.min(system + (tokens - system) * share, Math.max(target, system));
}

/**
 * The size from which a rebuild pays while the cache is hot: letting the window grow by x costs reads of x/2 a call,
 * rebuilding L tokens every x/g calls (g tokens a call) costs writes of L·g/x; their sum is least at √(2·L·g·(w−r)/r).
 */
export function computeHighMark(low: number, callTokens: number, prices: CachePrices): number {
  return low + computeStretch(prices) * Math.sqrt(low * Math.max(MIN_CALL_TOKENS, callTokens));
}

/** Tokens for held and other messages where the limit forces content out after a person has brought content back. */
export function computeHeldRoom(room: number, edit: "first" | "later") {
  return { heldTokens: room * HELD_SHARES[edit], undoneTokens: room * UNDONE_SHARES[edit] };
}

/** Price of a token of a rebuilt window until the next rebuild: it is written once and read with each call. */
export function computeTokenPrice(
  limits: PolicyLimits,
  low: number,
  callTokens: number,
  prices: CachePrices,
): number {
  const high = Math.min(limits.tokens, computeHighMark(low, callTokens, prices));
  return prices.write + (prices.read * Math.max(0, high - low)) / Math.max(1, callTokens);
}

/** Tokens that decide about a rebuild while the cache is cold. */
interface ColdSizes {
  /** Tokens of tool calls in the window. */
  readonly toolTokens: number;
  /** Tokens of tool calls that a rebuilt window has room for. */
  readonly roomTokens: number;
  /** Tokens of a rebuilt window. */
  readonly lowTokens: number;
  /** Tokens added since the last rebuild. */
  readonly newTokens: number;
}

/** Conditions of a rebuild while the cache is cold. */
interface ColdConditions {
  /** Share of the room for tool calls at which a rebuild starts at the latest. */
  readonly share: number;
  /** True if the provider has no cache. */
  readonly isUncached: boolean;
}

/**
 * True if a rebuild is worth its loss of content while the cache is cold and the rebuild costs no extra write. A small
 * window waits until `share` of its room for tool calls is used, because its extract holds less. So does a window
 * without a cache: it would be rebuilt every few calls, and keep far less than fits.
 */
export function isColdRebuildDue(
  { toolTokens, roomTokens, lowTokens, newTokens }: ColdSizes,
  { share, isUncached }: ColdConditions,
): boolean {
  if (isUncached) return toolTokens > roomTokens * share && newTokens > lowTokens * NEW_SHARE;
  return toolTokens > Math.min(roomTokens * share, COLD_TOKENS) && newTokens > MIN_NEW_TOKENS;
}

/** The messages added since an edit at a place of the line. */
export function listNewSlots(window: readonly Slot[], editedSeq: number): readonly Slot[] {
  return window.filter((slot) => slot.seq > editedSeq && !isPage(slot));
}

function computeStretch({ read, write }: CachePrices): number {
  if (read <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(MIN_STRETCH, Math.sqrt((2 * (write - read)) / read) || 0);
}

/** A slot with its message before edits. */
export function toOriginal(slot: Slot, tokensOf: TokenEstimator): Slot {
  const { original, ...rest } = slot;
  return original ? { ...rest, message: original, tokens: tokensOf(original) } : slot;
}

/** True if a slot shows a text that its original does not have, and not only fewer parts. */
export function hasNewText({ message, original = message }: Slot): boolean {
  return message.parts.some((part) => part.type === "text" && !original.parts.includes(part));
}

/** The messages of a window in their original form, with summaries at their positions. */
export function listOriginals(window: readonly Slot[], tokensOf: TokenEstimator): readonly Slot[] {
  const bySeq = new Map<number, Slot>();
  const summaries: Slot[] = [];
  for (const slot of dropOldPages(window, findNewestQuestion(window))) {
    if (!slot.isNote) bySeq.set(slot.seq, toOriginal(slot, tokensOf));
    else if (!isExtract(slot)) summaries.push(slot);
  }
  return [...summaries, ...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** Original messages in the form that a window has, where only shortened results distinguish the two. */
export function withShrunk(slots: readonly Slot[], window: readonly Slot[]): readonly Slot[] {
  const bySeq = new Map(window.filter(isShrunk).map((slot) => [slot.seq, slot]));
  return slots.map((slot) => {
    const short = slot.isNote ? undefined : bySeq.get(slot.seq);
    return short && short.original === slot.message ? short : slot;
  });
}

/** True if two windows consist of the same slots. */
export function isSameList(one: readonly Slot[], other: readonly Slot[]): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every((slot, index) => slot === other[index]);
}
