import type { Message } from "../../../model/message.ts";
import { listAnsweredCallIds, listCallIds } from "../../../model/tool-calls.ts";
import type { TokenEstimator } from "../../apply-edits.ts";
import { hasOwnText, isInlineToolOutput } from "../../inline-tool-output.ts";
import { hasReasoning } from "../../models/thinking-rule.ts";
import {
  computeBreakEvenCalls,
  DEFAULT_CACHE_PRICES,
  estimateRemainingCalls,
  REBUILD_REFETCH_COST,
} from "../../money/break-even.ts";
import { isPage } from "../../paging/page-note.ts";
import type { CachePrices, Course, Moment, PolicyLimits, PolicyRun } from "../../policy.ts";
import { findProtectedSeqs } from "../../protected-seqs.ts";
import { isShrunk, ResultShrinker } from "../../shrink/result-shrinker.ts";
import { resolveShrinkFilters } from "../../shrink/shrink-filters.ts";
import { type Slot, sumSlotTokens } from "../../slot.ts";
import { withoutLostCalls, withoutLostResults } from "../lost-calls.ts";
import { clipToRoom, MIN_NOTED_TOKENS } from "./clip-to-room.ts";
import { Extract } from "./extract.ts";
import {
  countGaps,
  type ExtractLine,
  findNamedIn,
  insertNotes,
  isExtract,
  type SaidMessage,
  toPathsLine,
  toQuotedLine,
} from "./extract-notes.ts";
import { FileStretches } from "./file-stretches.ts";
import { keepGroups } from "./keep-groups.ts";
import type { LonghaulOptions } from "./longhaul-options.ts";
import { MessageTexts, TurnSteps } from "./message-texts.ts";
import {
  computeHeldRoom,
  computeHighMark,
  computeLowMark,
  computeTokenPrice,
  hasNewText,
  isColdRebuildDue,
  isSameList,
  listNewSlots,
  listOriginals,
  toOriginal,
  withShrunk,
} from "./rebuild-marks.ts";

/**
 * When the limit forces text out, up to this many tokens are left free for new messages, so that no more text leaves
 * than necessary.
 */
const TEXT_GROWTH_TOKENS = 40_000;
/** The share of the room that text keeps at least when the limit forces some of it out. */
const TEXT_SHARE = 0.45;
const SHORTENED = "shortened when it first appeared";
/**
 * While the cache is hot, no window is rebuilt early before so many replies: a session that ends soon after would cost
 * more than without longhaul.
 */
const MIN_EARLY_CALLS = 50;
/** Replies after which the loss of an early rebuild is estimated again. */
const LOSS_REPLIES = 4;
/** Share of a rebuilt window that stretches of files will take, as far as that is known before the rebuild. */
const EXPECTED_FILES_SHARE = 0.4;
/** The threshold does not cause an edit right after another one; the limit does. */
const CALLS_BETWEEN_EDITS = 6;
/** A rebuild for the sake of the turn that begins comes at most this share of the room before the limit. */
const MAX_TURN_SHARE = 0.15;
/** Most turns take less than this times the average. */
const USUAL_TURN = 1.3;
/** An early rebuild must free this share of the window. */
const MIN_FREED_SHARE = 0.05;
/**
 * Shares for stretches of files: of the space that messages leave, of the whole space even if they leave none, and of the
 * room that is left.
 */
const FILES_SHARE = 0.8;
const MIN_FILES_SHARE = 0.5;
const MAX_FILES_SHARE = 0.3;
/** Share of the space for paths of files that nothing else names. */
const PATHS_SHARE = 0.04;
/** Estimated tokens of the line that marks a gap. */
const GAP_TOKENS = 24;
/** Messages that arrive in a fuller window are read at once, so that no edit has many to read. */
const READ_SHARE = 0.3;

/** One session under the policy: the last window, the messages since, and the lines of messages that have left. */
export class LonghaulRun implements PolicyRun {
  readonly #options: LonghaulOptions;
  readonly #limits: PolicyLimits;
  readonly #tokensOf: TokenEstimator;
  readonly #prices: CachePrices;
  readonly #bindsThinking: boolean;
  readonly #pins: ReadonlySet<number>;
  readonly #extract: Extract;
  readonly #texts: MessageTexts;
  /** Seqs of user messages in the window that contain only tool output. */
  readonly #outputs = new Set<number>();
  #lastMessage: Message | undefined;
  #window: Slot[];
  #tokens: number;
  /** Ids of answered calls in the window. */
  readonly #answeredIds = new Set<string>();
  /** Messages in the window that were not read yet: most conversations end before an edit needs that. */
  #unread: Slot[] = [];
  /** All messages in order, shown or not. */
  readonly #said: SaidMessage[] = [];
  readonly #isPastCut: boolean;
  readonly #steps = new TurnSteps();
  readonly #stretches: FileStretches;
  /** Estimated loss of an early rebuild, in input tokens, and the number of replies at that time. */
  #loss = { tokens: 0, replies: Number.NEGATIVE_INFINITY };
  /** Total tokens of all messages; divided by `#replies`, it gives the average growth per call. */
  #totalTokens = 0;
  #replies = 0;
  #turns = 0;
  /** Place of the last rebuild; 0 if there was none. */
  #editedSeq: number;
  reason: string | undefined;
  /** True if the window has changed since the last fit; fitting an unchanged window again must change nothing. */
  #isNew = true;
  /** Tokens before the messages at the last fit; they may change. */
  #fittedSystem = 0;
  readonly #shrinker: ResultShrinker;
  /** Index of the first message that no request has sent; results from there on may be shortened. */
  #unsent: number;
  readonly #settledSeq: number;
  readonly #isHeldSeq: (seq: number) => boolean;
  readonly #heldSeq: number;
  /** False while the pointers of the window may name lines that have left. */
  #arePointersValid = false;
  isTouchUp = false;
  /** Ids of the calls in the settled window and the messages since; undefined if the window must be settled again. */
  #calledIds: Set<string> | undefined;

  constructor(options: LonghaulOptions, limits: PolicyLimits, tokensOf: TokenEstimator, course: Course) {
    this.#options = options;
    this.#limits = limits;
    this.#tokensOf = tokensOf;
    this.#stretches = new FileStretches(tokensOf);
    this.#prices = course.prices ?? DEFAULT_CACHE_PRICES;
    this.#bindsThinking = course.bindsThinking === true;
    this.#pins = course.pins ?? new Set();
    // A limit that reports do not change, so that a run that takes over remembers the same texts.
    const maxTokens = limits.provider?.tokens ?? limits.tokens;
    this.#texts = new MessageTexts(maxTokens, tokensOf);
    this.#window = [...(course.window ?? [])];
    this.#tokens = limits.system + sumSlotTokens(this.#window);
    this.#editedSeq = course.editedSeq ?? 0;
    this.#isPastCut = course.isPastCut === true;
    const said = this.#window
      .filter((slot) => !isExtract(slot) && !isPage(slot))
      .map((slot) => toOriginal(slot, this.#tokensOf));
    const sorted = [...(course.past ?? []), ...said].toSorted((one, other) => one.seq - other.seq);
    for (const slot of sorted) {
      if (slot.message.role === "assistant") this.#replies++;
      this.#readSlot(slot);
    }
    const isQuestion = (slot: Slot) => this.#isQuestion(slot);
    for (const slot of sorted.slice(Math.max(0, sorted.findLastIndex(isQuestion)))) this.#recordStep(slot);
    this.#texts.forceOutPast(course.past ?? [], this.#window.filter(isExtract));
    this.#settledSeq = course.settledSeq ?? 0;
    this.#isHeldSeq = course.isHeld ?? (() => false);
    this.#heldSeq = course.heldSeq ?? 0;
    const filters = course.shrinkFilters ?? resolveShrinkFilters(options.shrink);
    this.#shrinker = new ResultShrinker(filters, tokensOf, this.#pins);
    this.#unsent = 1 + this.#window.findLastIndex(({ message }) => message.role === "assistant");
    const low = computeLowMark({ ...limits, tokens: maxTokens }, options.low, options.target);
    this.#extract = new Extract(low - limits.system, sorted, course.isPatient === true);
  }

  get #low(): number {
    return computeLowMark(this.#limits, this.#options.low, this.#options.target);
  }

  /** Maximum tokens of a request; text of user and assistant leaves only beyond it. */
  get #most(): number {
    return this.#limits.most ?? this.#limits.tokens;
  }

  digest(): void {
    this.#read();
    this.#extract.digest();
  }

  observe(slot: Slot): void {
    this.#window.push(slot);
    this.#tokens += slot.tokens;
    // A page is sent with the window that was just fitted, and contains nothing new.
    if (slot.isNote && isPage(slot)) return;
    this.#isNew = true;
    if (slot.message.role === "assistant") this.#replies++;
    this.#unread.push(slot);
    if (this.#tokens > this.#limits.tokens * READ_SHARE) this.#read();
    for (const callId of listCallIds(slot.message)) this.#calledIds?.add(callId);
    // A result without its call has to become text.
    if (listAnsweredCallIds(slot.message).some((callId) => !this.#calledIds?.has(callId)))
      this.#calledIds = undefined;
  }

  /** Reads the messages that have arrived, before anything depends on their content. */
  #read(): void {
    for (const slot of this.#unread) {
      this.#readSlot(slot);
      this.#recordStep(slot);
      this.#extract.observe(slot);
    }
    this.#unread = [];
  }

  fit(moment: Moment): readonly Slot[] {
    const { system, messages = Number.POSITIVE_INFINITY } = this.#limits;
    this.#tokens = system + sumSlotTokens(this.#window);
    const isNew = this.#isNew || (system > this.#fittedSystem && this.#tokens > this.#most);
    this.#fittedSystem = system;
    if (!isNew) {
      this.reason = undefined;
      return [...this.#window];
    }
    this.#isNew = false;
    const sent = this.#window;
    this.#shrink();
    const short = this.#window;
    this.#tokens = system + sumSlotTokens(short);
    const isForced = this.#tokens > this.#most || short.length > messages;
    const why = isForced ? "over the limit" : this.#findRebuildReason(moment);
    if (why !== undefined) this.#rebuild(isForced, moment.forcedTokens !== undefined);
    else if (!this.#calledIds) this.#settle(this.#window, new Set());
    this.#unsent = this.#window.length;
    const isChanged = sent !== this.#window && sent.some((slot, index) => slot !== this.#window[index]);
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
    if (short !== before && !isSameList(short, before)) this.#window = [...short];
  }

  /**
   * An early rebuild removes only content that can be retrieved again; text of user and assistant stays, whatever it
   * costs.
   */
  #findRebuildReason({ isHot, isUncached = false, minCalls = 0 }: Moment): string | undefined {
    const isNear = this.#tokens + this.#turnTokens > this.#most;
    if (isHot && !isNear && this.#replies < MIN_EARLY_CALLS && this.#tokens <= this.#limits.tokens)
      return undefined;
    this.#read();
    const hasThoughts = this.#hasThoughts;
    if (hasThoughts && !this.#isAtQuestion()) return undefined;
    const newSlots = listNewSlots(this.#window, this.#editedSeq);
    // The last rebuild shows how far the next one will get.
    const reached = this.#editedSeq > 0 ? this.#tokens - sumSlotTokens(newSlots) : 0;
    const low = Math.max(this.#computeReachableLow(), reached);
    const isWorth = this.#tokens - low >= this.#tokens * MIN_FREED_SHARE;
    const newCalls = newSlots.filter(({ message }) => message.role === "assistant").length;
    const isApart = this.#editedSeq === 0 || newCalls >= CALLS_BETWEEN_EDITS;
    if (isWorth && isApart && this.#tokens > this.#limits.tokens) return "over the threshold";
    if (isWorth && isApart && isNear && hasThoughts) return "the limit would be reached within this turn";
    if (newCalls < minCalls || !isApart) return undefined;
    const work = low - this.#limits.system - this.#texts.stayingTokens;
    if (!isHot) {
      const toolTokens = this.#tokens - low + work;
      const newTokens = this.#editedSeq > 0 ? sumSlotTokens(newSlots) : this.#tokens;
      const sizes = { toolTokens, roomTokens: work, lowTokens: low, newTokens };
      const share = this.#options.cold;
      return isColdRebuildDue(sizes, { share, isUncached }) ? "the cache is cold" : undefined;
    }
    // Thinking is not given up for money.
    if (this.#replies < MIN_EARLY_CALLS || hasThoughts) return undefined;
    if (this.#tokens <= computeHighMark(low, this.#callTokens, this.#prices)) return undefined;
    const needed = computeBreakEvenCalls({
      removedTokens: this.#tokens - low,
      survivingTokens: low - this.#limits.system,
      prices: this.#prices,
      refetchCost: REBUILD_REFETCH_COST + this.#estimateLoss(low - this.#limits.system),
    });
    const expected = estimateRemainingCalls(this.#replies + 1);
    // An edit has paid for itself before the next one.
    if (expected < needed || (this.#editedSeq > 0 && newCalls < needed)) return undefined;
    return `pays after ${Math.max(0, Math.ceil(needed))} calls, ${expected} expected`;
  }

  /** True if the next request answers a message of a person, so that no tool round is open. */
  #isAtQuestion(): boolean {
    const last = this.#window.findLast((slot) => !isPage(slot));
    return last !== undefined && this.#isQuestion(last);
  }

  /** True if the window shows the model thinking that an edit would take away. */
  get #hasThoughts(): boolean {
    return (
      this.#bindsThinking &&
      this.#window.some(
        ({ message, isNote }) => !isNote && message.role === "assistant" && hasReasoning(message),
      )
    );
  }

  /** Tokens that most turns stay below, at most the share by which a rebuild may come before the limit. */
  get #turnTokens(): number {
    const average = this.#totalTokens / Math.max(1, this.#turns);
    return Math.min(USUAL_TURN * average, (this.#most - this.#limits.system) * MAX_TURN_SHARE);
  }

  get #callTokens(): number {
    return this.#totalTokens / Math.max(1, this.#replies);
  }

  /**
   * Cost of the next edits that miss their text after an early rebuild, in input tokens. While an agent reads files
   * that it has not edited yet, that is more than the rebuild saves.
   */
  #estimateLoss(space: number): number {
    if (this.#replies - this.#loss.replies >= LOSS_REPLIES) {
      const shown = new Set(this.#window.map(({ seq }) => seq));
      const tokens = this.#stretches.estimateLoss(space * EXPECTED_FILES_SHARE, (seq) => shown.has(seq));
      this.#loss = { tokens, replies: this.#replies };
    }
    return this.#loss.tokens;
  }

  /**
   * The size that an early rebuild can reach: all text of user and assistant and all held content, plus some
   * space for tail and extract.
   */
  #computeReachableLow(): number {
    const { system } = this.#limits;
    // Held messages of words only count as texts.
    const isBusy = ({ seq, message }: Slot) =>
      this.#outputs.has(seq) || message.parts.some(({ type }) => type !== "text");
    const held = this.#window.filter((slot) => this.#isHeld(slot, false) && isBusy(slot));
    const staying = this.#texts.stayingTokens + sumSlotTokens(held);
    return Math.max(this.#low, system + staying + (this.#low - system) * this.#options.work);
  }

  /**
   * True for content that a person has brought back; unless the limit forces content out, and for all content shown
   * with it.
   */
  #isHeld({ seq, isNote }: Slot, isForced: boolean): boolean {
    return !isNote && (this.#isHeldSeq(seq) || (!isForced && seq <= this.#heldSeq));
  }

  /** Tokens for held and other messages; the first edit after an undo leaves the most of them. */
  #computeHeldRoom(room: number, isForced: boolean) {
    if (!isForced || this.#heldSeq === 0) return { heldTokens: Number.POSITIVE_INFINITY, undoneTokens: 0 };
    return computeHeldRoom(room, this.#editedSeq > this.#heldSeq ? "later" : "first");
  }

  /** After a refusal, the limit is the target: nothing leaves that would fit, and messages stay rather than an extract. */
  #rebuild(isForced: boolean, isRefused = false): void {
    this.#read();
    const { system, messages = Number.POSITIVE_INFINITY } = this.#limits;
    const { low, tail, least, extract } = this.#options;
    const asSaid = listOriginals(this.#window, this.#tokensOf);
    const said = this.#texts.listTexts(asSaid, this.#outputs, isForced);
    const here = new Set(asSaid.map(({ seq }) => seq));
    const returning = said.flatMap(({ slot, isWhole }) => (isWhole && !here.has(slot.seq) ? [slot] : []));
    const slots = [...asSaid, ...returning].sort((one, other) => one.seq - other.seq);
    const room = this.#most - system;
    const target = isForced ? this.#low : this.#computeReachableLow();
    const space = (isRefused ? this.#most : target) - system;
    const extractShare = isRefused ? least : extract;
    const wholeTexts = said.flatMap(({ slot, isWhole }) => (isWhole ? [slot] : []));
    const stepTokens = GAP_TOKENS * this.#steps.listLines(new Set()).length;
    const freeShare = isRefused ? 1 - least - (sumSlotTokens(wholeTexts) + stepTokens) / space : 0;
    const {
      shown: staying,
      quoted,
      removed: left,
    } = keepGroups(slots, said, {
      targetTokens: space,
      targetMessages: Math.floor(messages * low),
      tailShare: Math.max(tail, freeShare),
      textTokens: isForced
        ? Math.max(space, room * TEXT_SHARE, room - TEXT_GROWTH_TOKENS)
        : Number.POSITIVE_INFINITY,
      extractTokens: space * extractShare,
      pins: this.#pins,
      isHeld: (slot) => this.#isHeld(slot, isForced),
      isAway: ({ seq }) => !here.has(seq),
      ...this.#computeHeldRoom(room, isForced),
      tokensOf: this.#tokensOf,
    });
    const shown = this.#shrinker.settle(withShrunk(staying, this.#window));
    if (isForced) this.#texts.forceOutOthers(new Set([...shown, ...quoted].map(({ seq }) => seq)));
    this.#editedSeq = this.#window.at(-1)?.seq ?? 0;
    for (const { seq } of left) this.#outputs.delete(seq);
    const called = new Set(shown.flatMap(({ message }) => listCallIds(message)));
    for (const callId of this.#answeredIds) if (!called.has(callId)) this.#answeredIds.delete(callId);
    const shownSeqs = new Set(shown.map(({ seq }) => seq));
    const steps = this.#steps.listLines(shownSeqs);
    const marks = GAP_TOKENS * (countGaps(shown, this.#said) + steps.length);
    const used = sumSlotTokens(shown) + sumSlotTokens(quoted) + marks;
    const wanted = Math.max((space - used) * FILES_SHARE, space * MIN_FILES_SHARE);
    const files = this.#stretches.choose({
      maxTokens: Math.min(wanted, (room - used) * MAX_FILES_SHARE),
      tokenPrice: computeTokenPrice(this.#limits, target, this.#callTokens, this.#prices),
      isGone: (seq) => !shownSeqs.has(seq),
    });
    // As notes, so that no other line of the extract repeats theirs.
    const fileNotes = files.map(({ text, source: { seq } }): Slot => {
      const message: Message = { role: "user", parts: [{ type: "text", text }] };
      return { seq, at: 0, message, tokens: this.#tokensOf(message), isNote: true };
    });
    const size = used + sumSlotTokens(fileNotes);
    const maxNotes = 1 + shown.filter(({ message }) => message.role === "user").length;
    // Tool output inside a text is clipped where the text stays; its lines may come back like those of other output.
    const clipped = shown.filter((slot) => hasNewText(slot) && !slot.isNote && !isShrunk(slot));
    const lines = this.#extract.replace([...left, ...clipped], [...shown, ...quoted, ...fileNotes], {
      roomTokens: Math.min(Math.max(space - size, room * least), room - size),
      maxNotes,
      tokensOf: this.#tokensOf,
    });
    const notes = [...steps, ...files, ...lines, ...quoted.map(toQuotedLine)];
    const paths = this.#stretches.listPaths(findNamedIn(shown, notes), space * PATHS_SHARE);
    const gaps = { said: this.#said, isCut: this.#isPastCut };
    const insert = (lines: readonly ExtractLine[]) => insertNotes(shown, lines, gaps, this.#tokensOf);
    const isTight = (noted: readonly Slot[]) => room < MIN_NOTED_TOKENS && sumSlotTokens(noted) > room;
    const whole = insert([...toPathsLine(paths, left), ...notes]);
    const window = isTight(whole) ? insert(steps) : whole;
    let excess = isTight(window) ? Number.POSITIVE_INFINITY : window.length - messages;
    const fewer = window.filter((slot) => !isExtract(slot) || excess-- <= 0);
    this.#settle(fewer, findProtectedSeqs(slots, this.#pins));
  }

  /** Makes the window valid to send. Clipping may cut lines that a pointer names; then nothing stays shortened. */
  #settle(slots: readonly Slot[], kept: ReadonlySet<number>): void {
    const isSettled = slots === this.#window;
    this.#makeSendable(slots, kept);
    if (isSettled && isSameList(slots, this.#window)) return;
    if (this.#shrinker.settle(this.#window) === this.#window) return;
    this.#makeSendable(
      slots.map((slot) => (isShrunk(slot) ? toOriginal(slot, this.#tokensOf) : slot)),
      kept,
    );
    this.#shrinker.settle(this.#window);
  }

  /** No result without its call, and always within the limit. */
  #makeSendable(slots: readonly Slot[], kept: ReadonlySet<number>): void {
    this.#read();
    const called = withoutLostCalls(slots, this.#tokensOf);
    const paired = withoutLostResults(called, (callId) => this.#answeredIds.has(callId), this.#tokensOf);
    const room = this.#most - this.#limits.system;
    this.#window = [...clipToRoom(paired, room, { kept, pins: this.#pins, tokensOf: this.#tokensOf })];
    this.#tokens = this.#limits.system + sumSlotTokens(this.#window);
    this.#calledIds = new Set(this.#window.flatMap(({ message }) => listCallIds(message)));
  }

  /** True for a message written by a person, which begins a turn. */
  #isQuestion({ seq, message, isNote }: Slot): boolean {
    return !isNote && message.role === "user" && !this.#outputs.has(seq) && hasOwnText(message);
  }

  #recordStep(slot: Slot): void {
    if (this.#isQuestion(slot)) this.#steps.begin();
    else if (!slot.isNote) this.#steps.observe(slot, this.#outputs.has(slot.seq));
  }

  #readSlot(slot: Slot): void {
    const { seq, at, cite, message, isNote, tokens } = slot;
    this.#totalTokens += tokens;
    if (!isNote) {
      if (isInlineToolOutput(message, this.#lastMessage)) this.#outputs.add(seq);
      this.#lastMessage = message;
      this.#said.push({ seq, at, ...(cite && { cite }) });
    }
    if (this.#isQuestion(slot)) this.#turns++;
    if (this.#outputs.has(seq)) this.#texts.trimLastCall();
    else if (!isNote) this.#texts.add(slot);
    // An id may be reused: a new call is open even if an earlier one with its id was answered.
    for (const callId of listCallIds(message)) this.#answeredIds.delete(callId);
    for (const callId of listAnsweredCallIds(message)) this.#answeredIds.add(callId);
    this.#stretches.observe(slot);
  }
}
