import type { Message } from "../../../model/message.ts";
import type { Part } from "../../../model/part.ts";
import { listAnsweredCallIds, listCallIds } from "../../../model/tool-call-ids.ts";
import type { TokenEstimator } from "../../apply-edits.ts";
import { clipSlots } from "../../clip-slots.ts";
import { isInlineToolOutput } from "../../inline-tool-output.ts";
import {
  computeBreakEvenCalls,
  DEFAULT_CACHE_PRICES,
  estimateRemainingCalls,
  REBUILD_REFETCH_COST,
} from "../../money/break-even.ts";
import { isPage } from "../../paging/page-note.ts";
import type { Budget, CachePrices, Course, Moment, PolicyRun } from "../../policy.ts";
import { findProtectedSeqs, findVerbatimSeqs } from "../../protected-seqs.ts";
import { isShrunk, ResultShrinker } from "../../shrink/result-shrinker.ts";
import { resolveShrinkFilters } from "../../shrink/shrink-filters.ts";
import type { Slot } from "../../slot.ts";
import { sumSlotTokens } from "../../sum-slot-tokens.ts";
import { withoutLostCalls } from "../lost-calls.ts";
import { withoutLostResults } from "../lost-results.ts";
import { Extract } from "./extract.ts";
import { insertNotes, isExtract, toQuotedLine } from "./extract-notes.ts";
import { keepGroups } from "./keep-groups.ts";
import type { LonghaulOptions } from "./longhaul-options.ts";
import { type MessageText, MessageTexts } from "./message-texts.ts";
import { hasNewText, isSameList, listOriginals, toOriginal, withShrunk } from "./original-slots.ts";
import { computeHighMark, computeLowMark, countNewTokens, isColdRebuildDue } from "./rebuild-marks.ts";

/**
 * Content that may not leave but is too large is clipped to this share of the room, so that the next message does not
 * clip it again.
 */
const CLIPPED_SHARE = 0.85;
/**
 * When the limit forces text out, up to this many tokens are left free for new messages, so that no more text leaves
 * than necessary.
 */
const TEXT_GROWTH_TOKENS = 24_000;
const SHORTENED = "shortened when it first appeared";

/** One session under the policy: the last window, the messages since, and the lines of messages that have left. */
export class LonghaulRun implements PolicyRun {
  readonly #options: LonghaulOptions;
  readonly #budget: Budget;
  readonly #tokensOf: TokenEstimator;
  readonly #prices: CachePrices;
  readonly #pins: ReadonlySet<number>;
  readonly #low: number;
  readonly #extract: Extract;
  readonly #texts: MessageTexts;
  /** Seqs of user messages in the window that contain only tool output. */
  readonly #outputs = new Set<number>();
  #lastMessage: Message | undefined;
  #window: Slot[];
  #tokens: number;
  /** Ids of answered calls in the window. */
  readonly #answeredIds = new Set<string>();
  #calls: number;
  /** Total tokens of all messages; divided by `#replies`, it gives the average growth per call. */
  #totalTokens = 0;
  #replies = 0;
  /** Tokens added since the last rebuild; the whole initial window if there was none. */
  #newTokens: number;
  reason: string | undefined;
  /** True if the window has changed since the last fit; fitting an unchanged window again must change nothing. */
  #isNew = true;
  readonly #shrinker: ResultShrinker;
  /** Index of the first message that no request has sent; results from there on may be shortened. */
  #unsent: number;
  readonly #settledSeq: number;
  /** False while the pointers of the window may name lines that have left. */
  #arePointersValid = false;
  isTouchUp = false;
  /** Ids of the calls in the settled window and the messages since; undefined if the window must be settled again. */
  #calledIds: Set<string> | undefined;

  constructor(options: LonghaulOptions, budget: Budget, tokensOf: TokenEstimator, course: Course) {
    this.#options = options;
    this.#budget = budget;
    this.#tokensOf = tokensOf;
    this.#prices = course.prices ?? DEFAULT_CACHE_PRICES;
    this.#pins = course.pins ?? new Set();
    this.#low = computeLowMark(budget, options.low, options.target);
    this.#texts = new MessageTexts(budget.tokens, tokensOf);
    this.#window = [...(course.window ?? [])];
    this.#tokens = budget.system + sumSlotTokens(this.#window);
    this.#newTokens = countNewTokens(this.#window, course.editedSeq) ?? this.#tokens;
    this.#calls = course.calls ?? 0;
    const said = this.#window
      .filter((slot) => !isExtract(slot) && !isPage(slot))
      .map((slot) => toOriginal(slot, this.#tokensOf));
    const earlier = [...(course.past ?? []), ...said];
    const sorted = earlier.toSorted((one, other) => one.seq - other.seq);
    for (const slot of sorted) this.#recordOutput(slot);
    for (const slot of sorted) this.#countSlot(slot);
    this.#forceOutPast(course.past ?? []);
    this.#settledSeq = course.settledSeq ?? 0;
    const filters = course.shrinkFilters ?? resolveShrinkFilters(options.shrink);
    this.#shrinker = new ResultShrinker(filters, tokensOf, this.#pins);
    for (const slot of course.past ?? []) this.#shrinker.observePast(slot);
    this.#unsent = 1 + this.#window.findLastIndex(({ message }) => message.role === "assistant");
    this.#extract = new Extract(this.#low - budget.system, earlier, course.isPatient === true);
  }

  digest(): void {
    this.#extract.digest();
  }

  observe(slot: Slot): void {
    this.#window.push(slot);
    this.#tokens += slot.tokens;
    // A page is sent with the window that was just fitted, and contains nothing new.
    if (isPage(slot)) return;
    this.#isNew = true;
    this.#newTokens += slot.tokens;
    this.#recordOutput(slot);
    this.#countSlot(slot);
    this.#extract.observe(slot);
    for (const callId of listCallIds(slot.message)) this.#calledIds?.add(callId);
    // A result without its call has to become text.
    if (listAnsweredCallIds(slot.message).some((callId) => !this.#calledIds?.has(callId)))
      this.#calledIds = undefined;
  }

  fit(moment: Moment): readonly Slot[] {
    if (!this.#isNew) {
      this.reason = undefined;
      return [...this.#window];
    }
    this.#isNew = false;
    this.#calls++;
    const sent = this.#window;
    this.#shrink();
    const short = this.#window;
    // The tokens before the messages may have changed.
    this.#tokens = this.#budget.system + sumSlotTokens(short);
    const isForced = this.#isOver(moment.pageTokens ?? 0);
    const why = isForced ? "over the limit" : this.#findRebuildReason(moment);
    if (why !== undefined) this.#rebuild(isForced);
    else if (!this.#calledIds) this.#settle(this.#window, new Set());
    this.#unsent = this.#window.length;
    const isChanged = sent.some((slot, index) => slot !== this.#window[index]);
    this.isTouchUp = isChanged && why === undefined && isSameList(short, this.#window);
    this.reason = isChanged ? (why ?? (this.isTouchUp ? SHORTENED : undefined)) : undefined;
    return [...this.#window];
  }

  /** Brings back lines whose copy has left, and shortens the results that no request has sent. */
  #shrink(): void {
    const before = this.#window;
    const known = this.#arePointersValid
      ? before
      : [...this.#shrinker.settle(before.slice(0, this.#unsent)), ...before.slice(this.#unsent)];
    this.#arePointersValid = true;
    const short = this.#shrinker.shrinkNew(known, this.#unsent, ({ seq }) => seq <= this.#settledSeq);
    if (isSameList(short, before)) return;
    const saved = sumSlotTokens(before) - sumSlotTokens(short);
    this.#totalTokens -= saved;
    this.#newTokens -= saved;
    this.#window = [...short];
  }

  #isOver(pageTokens: number): boolean {
    const { tokens, messages = Number.POSITIVE_INFINITY } = this.#budget;
    return this.#tokens + pageTokens > tokens || this.#window.length > messages;
  }

  /**
   * An early rebuild removes only content that can be retrieved again; text of user and assistant stays, whatever it
   * costs.
   */
  #findRebuildReason({ isHot, isUncached = false }: Moment): string | undefined {
    const { system } = this.#budget;
    const low = this.#computeReachableLow();
    const work = low - system - this.#texts.stayingTokens;
    if (!isHot) {
      const toolTokens = this.#tokens - low + work;
      const sizes = { toolTokens, roomTokens: work, lowTokens: low, newTokens: this.#newTokens };
      const share = this.#options.cold;
      return isColdRebuildDue(sizes, { share, isUncached }) ? "the cache is cold" : undefined;
    }
    const high = computeHighMark(low, this.#totalTokens / Math.max(1, this.#replies), this.#prices);
    if (this.#tokens <= high) return undefined;
    const needed = computeBreakEvenCalls({
      removedTokens: this.#tokens - low,
      survivingTokens: low - system,
      prices: this.#prices,
      refetchCost: REBUILD_REFETCH_COST,
    });
    const expected = estimateRemainingCalls(this.#calls);
    if (expected < needed) return undefined;
    return `pays after ${Math.max(0, Math.ceil(needed))} calls, ${expected} expected`;
  }

  /** The size that an early rebuild can reach: all text of user and assistant, plus some space for tail and extract. */
  #computeReachableLow(): number {
    const { system } = this.#budget;
    const space = this.#low - system;
    return Math.max(this.#low, system + this.#texts.stayingTokens + space * this.#options.work);
  }

  #rebuild(isForced: boolean): void {
    const { tokens, system, messages = Number.POSITIVE_INFINITY } = this.#budget;
    const { low, tail, least, extract } = this.#options;
    const asSaid = listOriginals(this.#window, this.#tokensOf);
    const said = this.#texts.listTexts(asSaid, this.#outputs, isForced);
    const here = new Set(asSaid.map(({ seq }) => seq));
    const returning = said.flatMap(({ slot, isWhole }) => (isWhole && !here.has(slot.seq) ? [slot] : []));
    const slots = [...asSaid, ...returning].sort((one, other) => one.seq - other.seq);
    const room = tokens - system;
    const space = (isForced ? this.#low : this.#computeReachableLow()) - system;
    const {
      shown: whole,
      quoted,
      removed: left,
    } = keepGroups(slots, said, {
      targetTokens: space,
      targetMessages: Math.floor(messages * low),
      tailShare: tail,
      textTokens: isForced
        ? Math.max(space, room * low, room - TEXT_GROWTH_TOKENS)
        : Number.POSITIVE_INFINITY,
      extractTokens: space * extract,
      pins: this.#pins,
      tokensOf: this.#tokensOf,
    });
    const shown = this.#shrinker.settle(withShrunk(whole, this.#window));
    if (isForced) this.#texts.forceOutOthers(new Set([...shown, ...quoted].map(({ seq }) => seq)));
    this.#newTokens = 0;
    for (const { seq } of left) this.#outputs.delete(seq);
    const called = new Set(shown.flatMap(({ message }) => listCallIds(message)));
    for (const callId of this.#answeredIds) if (!called.has(callId)) this.#answeredIds.delete(callId);
    const size = sumSlotTokens(shown) + sumSlotTokens(quoted);
    const notes = 1 + shown.filter(({ message }) => message.role === "user").length;
    // Tool output inside a text is clipped where the text stays; its lines may come back like those of other output.
    const clipped = shown.filter((slot) => hasNewText(slot) && !slot.isNote && !isShrunk(slot));
    const lines = this.#extract.replace([...left, ...clipped], [...shown, ...quoted], {
      roomTokens: Math.min(Math.max(space - size, room * least), room - size),
      maxNotes: notes,
      tokensOf: this.#tokensOf,
    });
    const window = insertNotes(shown, [...lines, ...quoted.map(toQuotedLine)], this.#tokensOf);
    let excess = window.length - messages;
    const fewer = window.filter((slot) => !isExtract(slot) || excess-- <= 0);
    this.#settle(fewer, findProtectedSeqs(slots, this.#pins));
  }

  /** Makes the window valid to send. Clipping may cut lines that a pointer names; then nothing stays shortened. */
  #settle(slots: readonly Slot[], kept: ReadonlySet<number>): void {
    this.#makeSendable(slots, kept);
    if (this.#shrinker.settle(this.#window) === this.#window) return;
    this.#makeSendable(
      slots.map((slot) => (isShrunk(slot) ? toOriginal(slot, this.#tokensOf) : slot)),
      kept,
    );
    this.#shrinker.settle(this.#window);
  }

  /** No result without its call, and always within the budget. */
  #makeSendable(slots: readonly Slot[], kept: ReadonlySet<number>): void {
    const called = withoutLostCalls(slots, this.#tokensOf);
    const paired = withoutLostResults(called, (callId) => this.#answeredIds.has(callId), this.#tokensOf);
    const room = this.#budget.tokens - this.#budget.system;
    const spared = clipSlots(paired, room, this.#tokensOf, ({ seq, isNote }) => !isNote && kept.has(seq));
    const verbatim = findVerbatimSeqs(spared, this.#pins);
    const isVerbatim = ({ seq, isNote }: Slot, { type }: Part) =>
      !isNote && verbatim.has(seq) && (type !== "tool-result" || this.#pins.has(seq));
    const isTooMuch = sumSlotTokens(spared) > room;
    this.#window = [
      ...(isTooMuch ? clipSlots(spared, room * CLIPPED_SHARE, this.#tokensOf, isVerbatim) : spared),
    ];
    this.#tokens = this.#budget.system + sumSlotTokens(this.#window);
    this.#calledIds = new Set(this.#window.flatMap(({ message }) => listCallIds(message)));
  }

  /** Records whether a message contains only tool output. */
  #recordOutput({ seq, message, isNote }: Slot): void {
    if (isNote) return;
    if (isInlineToolOutput(message, this.#lastMessage)) this.#outputs.add(seq);
    this.#lastMessage = message;
  }

  /** Marks text that left the window before this run began as forced out, if it can be shown whole. */
  #forceOutPast(past: readonly Slot[]): void {
    const gone = new Set(past.map(({ seq }) => seq));
    const isStaying = ({ slot, isWhole }: MessageText) => !isWhole || !gone.has(slot.seq);
    this.#texts.forceOutOthers(new Set(this.#texts.all.filter(isStaying).map(({ slot }) => slot.seq)));
  }

  #countSlot(slot: Slot): void {
    this.#totalTokens += slot.tokens;
    if (slot.message.role === "assistant") this.#replies++;
    if (this.#outputs.has(slot.seq)) this.#texts.trimLastCall();
    else if (!slot.isNote) this.#texts.add(slot);
    // An id may be reused: a new call is open even if an earlier one with its id was answered.
    for (const callId of listCallIds(slot.message)) this.#answeredIds.delete(callId);
    for (const callId of listAnsweredCallIds(slot.message)) this.#answeredIds.add(callId);
  }
}
