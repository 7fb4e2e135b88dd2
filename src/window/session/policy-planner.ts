import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { Turns } from "../../model/base/turns.ts";
import { createArgumentError } from "../../model/errors.ts";
import { applyEdits } from "../apply-edits.ts";
import { isSystem } from "../is-system.ts";
import { dropUnboundThinking } from "../living-thinking.ts";
import type { Pass } from "../pass.ts";
import { stubStaleImages } from "../passes/stub-stale-images.ts";
import { withoutLostCalls } from "../policies/lost-calls.ts";
import type { Moment, PolicyLimits, PolicyRun } from "../policy.ts";
import { findProtectedSeqs, findVerbatimSeqs } from "../protected-seqs.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { isWorthEditing } from "./edit-guard.ts";
import type { WindowUpdate } from "./follower.ts";
import {
  createHeldTest,
  findHeldSeq,
  findLastPlan,
  hasRemovedContent,
  type LoadedWindow,
} from "./load-window.ts";
import type { Meter } from "./meter.ts";
import { REFUSED_REASON } from "./refusals.ts";
import { createFloorError } from "./window-errors.ts";
import { computeCachePrices, type WindowSettings } from "./window-settings.ts";

/** A window that a policy proposes in place of the last one. */
export interface ProposedWindow {
  readonly slots: readonly Slot[];
  /** True if the window would have been too large. */
  readonly isForced: boolean;
  /** True if only single messages were replaced, and nothing left the window. */
  readonly isTouchUp: boolean;
  readonly reason: string;
}

/** Tokens kept free for a page: a share of the room next to content that never leaves, up to a bound. */
const PAGE_RESERVE_SHARE = 0.25;
const MAX_PAGE_RESERVE = 4_000;
const LARGE_CHANGE = 0.1;

/** Most conversations end before their window is this full, so deferred work would be wasted on them. */
const MIN_DIGEST_SHARE = 0.3;

/** Runs a policy on one session. */
export class PolicyPlanner {
  readonly #settings: WindowSettings;
  readonly #meter: Meter;
  readonly #session: string;
  readonly #stubImages: Pass;
  /** Mutable, and read by the policy on every fit: the limits depend on the provider's reports. */
  readonly #estimated: { -readonly [Key in keyof PolicyLimits]: PolicyLimits[Key] };
  #run: PolicyRun | undefined;
  /** Estimated tokens that a request may take because the provider has refused a larger one. */
  capTokens = Number.POSITIVE_INFINITY;
  /** Replies of the session, as far as they were read. */
  #calls = 0;
  #startTokens = 0;
  /** Why the policy wants an edit that was not worth applying yet. */
  #deferredReason: string | undefined;

  constructor(settings: WindowSettings, meter: Meter, session: string) {
    const { limits, system, tools } = settings;
    this.#settings = settings;
    this.#meter = meter;
    this.#session = session;
    this.#stubImages = stubStaleImages(settings.images);
    const counted = (estimated: number) => meter.counted(estimated);
    this.#estimated = {
      tokens: limits.most,
      window: limits.window,
      system: system + tools,
      provider: { window: limits.window, tokens: limits.most, counted },
    };
    if (limits.messages !== undefined) this.#estimated.messages = limits.messages;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Sets the tokens that come before the messages. */
  setSystem(tokens: number): void {
    this.#estimated.system = tokens;
  }

  /** Passes new messages to the policy, or restarts it for a newly loaded window. */
  async applyUpdate(followed: WindowUpdate): Promise<void> {
    if (followed.isNew) {
      this.forget();
      this.#calls = countReplies(followed.window.past) + countReplies(followed.window.slots);
      return;
    }
    const turns = new Turns();
    for (const slot of followed.arrived) {
      if (slot.message.role === "assistant") this.#calls++;
      this.#run?.observe(slot);
      const resting = turns.rest();
      if (resting) await resting;
    }
  }

  /** Tells the policy about a message that was appended to the window. */
  observe(slot: Slot): void {
    this.#run?.observe(slot);
  }

  /**
   * Runs the policy's deferred work, if a window is large enough to need it: later, while the caller waits for its
   * provider, so that it delays nobody.
   */
  scheduleDigest(slots: readonly Slot[]): void {
    if (this.#estimated.system + sumSlotTokens(slots) > MIN_DIGEST_SHARE * this.#estimated.tokens)
      setImmediate(() => this.#digest()).unref();
  }

  #digest(): void {
    try {
      this.#run?.digest?.();
    } catch {
      // No caller is waiting for this error; it will recur when the policy restarts.
      this.#run = undefined;
    }
  }

  /**
   * The window that the policy proposes; undefined if the given one stays. Throws WINDOW_FLOOR if the content that may
   * not be cut does not fit.
   */
  fit(window: LoadedWindow, moment: Moment, forcedTokens?: number): ProposedWindow | undefined {
    const { slots } = window;
    this.#setLimits(window, forcedTokens);
    // A policy plans with the limits it started with; very different limits require a restart.
    const change = this.#estimated.tokens / this.#startTokens;
    if (change < 1 - LARGE_CHANGE || change > 1 + LARGE_CHANGE) this.#run = undefined;
    const run = this.#run ?? this.#start(window);
    const fitted = run.fit(moment);
    const isSame = Array.isArray(fitted) && isSameWindow(slots, fitted);
    const whole = isSame ? fitted : this.#checkWindow(window, fitted);
    const limited = this.#limitImages(whole, window);
    const next = this.#bindsThinking ? dropUnboundThinking(slots, limited, this.#settings.tokensOf) : limited;
    if (isSame && next === fitted && window.unread === undefined) {
      this.#deferredReason = undefined;
      return undefined;
    }
    if (next !== fitted) this.#run = undefined;
    const isChanged = window.unread !== undefined || !isSameWindow(slots, next);
    const isTouchUp =
      run.isTouchUp === true && next === fitted && window.unread === undefined && isSameSlots(slots, next);
    const isByRule = limited !== fitted || run.isTouchUp === true;
    const isEdited = isChanged && (isTouchUp || this.#isWorthEditing(window, next, forcedTokens, isByRule));
    const own = run.reason ?? this.#deferredReason;
    const wanted = forcedTokens === undefined ? own : REFUSED_REASON;
    this.#deferredReason = isChanged && !isEdited ? own : undefined;
    // The policy continues from the window that is sent, not from a proposal that was not worth applying.
    if (isChanged && !isEdited) this.#run = undefined;
    if (!isEdited) return undefined;
    const { system, most = Number.POSITIVE_INFINITY, messages = Number.POSITIVE_INFINITY } = this.#estimated;
    const isForced =
      window.unread !== undefined || system + sumSlotTokens(slots) > most || slots.length > messages;
    const reasons: string[] = [];
    if (limited === whole || !isSameWindow(slots, whole)) reasons.push(wanted ?? this.#settings.policy.name);
    if (limited !== whole) reasons.push("images beyond the limit");
    return { slots: next, isForced, isTouchUp, reason: reasons.join(", ") };
  }

  get #bindsThinking(): boolean {
    return this.#settings.facts.thinking === "bound";
  }

  #isWorthEditing(
    { slots, unread }: LoadedWindow,
    next: readonly Slot[],
    forcedTokens: number | undefined,
    isByRule: boolean,
  ): boolean {
    const { policy, limits, tokensOf } = this.#settings;
    const { system, messages = Number.POSITIVE_INFINITY } = this.#estimated;
    const [before, after] = [system + sumSlotTokens(slots), system + sumSlotTokens(next)];
    const isTooLarge = (tokens: number) => this.#meter.counted(tokens) > limits.most;
    const isNeeded =
      isByRule ||
      policy.isStrict === true ||
      unread !== undefined ||
      forcedTokens !== undefined ||
      slots.length > Math.min(messages, policy.maxMessages?.(limits.window) ?? messages) ||
      isTooLarge(before) ||
      withoutLostCalls(slots, tokensOf) !== slots;
    const staying = new Set(next.map(({ message }) => message));
    const isAddition = !isTooLarge(after) && slots.every(({ message }) => staying.has(message));
    return isWorthEditing({ before, after, isNeeded, isAddition });
  }

  /**
   * Estimated tokens of content that may not be cut. With clipping, these are only pins, summaries, system messages,
   * the newest question and the latest reply; tool results sent with the question can be clipped.
   */
  estimateFloor({ slots, pins, summaries }: LoadedWindow): number {
    const { isClipping, tokensOf } = this.#settings;
    const fixed = new Set([...pins, ...summaries]);
    for (const slot of slots) if (isSystem(slot)) fixed.add(slot.seq);
    const kept = isClipping ? findVerbatimSeqs(slots, fixed) : findProtectedSeqs(slots, fixed);
    let tokens = this.#estimated.system;
    for (const { seq, isNote, message, tokens: own } of slots) {
      if (isNote || !kept.has(seq)) continue;
      const said = message.parts.filter(({ type }) => type !== "tool-result");
      const isClipped = isClipping && !fixed.has(seq) && said.length < message.parts.length;
      tokens += isClipped ? tokensOf({ ...message, parts: said }) : own;
    }
    return tokens;
  }

  /** Estimated tokens of messages that no edit may hide. */
  #estimateProtected({ slots, pins, summaries }: LoadedWindow): number {
    const kept = findProtectedSeqs(slots, new Set([...pins, ...summaries]));
    let tokens = this.#estimated.system;
    for (const { seq, isNote, tokens: own } of slots) if (!isNote && kept.has(seq)) tokens += own;
    return tokens;
  }

  /** Restarts the policy on the next fit. */
  forget(): void {
    this.#run = undefined;
    this.#deferredReason = undefined;
  }

  #start(window: LoadedWindow): PolicyRun {
    const { slots, past, isPastCut, unread, pins, summaries, overlays } = window;
    const { policy, tokensOf, facts, shrinkFilters } = this.#settings;
    this.#startTokens = this.#estimated.tokens;
    this.#run = policy.start(this.#estimated, tokensOf, {
      prices: computeCachePrices(facts),
      bindsThinking: this.#bindsThinking,
      pins: new Set([...pins, ...summaries]),
      window: slots,
      past,
      isPastCut: isPastCut || unread !== undefined,
      calls: this.#calls,
      isPatient: true,
      editedSeq: findLastPlan({ overlays }),
      isHeld: createHeldTest(window),
      heldSeq: findHeldSeq(window),
      ...dropUndefined({ shrinkFilters }),
      settledSeq: Math.max(
        0,
        ...overlays.map(({ entry, place }) =>
          entry.edit.type === "revert" && entry.author !== "longhaul" ? place : 0,
        ),
      ),
    });
    return this.#run;
  }

  /**
   * Sets the limits. They give up the safety margin for uncertain estimates rather than exclude the floor, or the
   * protected messages as long as they fit.
   */
  #setLimits(window: LoadedWindow, forcedTokens = Number.POSITIVE_INFINITY): void {
    const { limits, isClipping, model } = this.#settings;
    const wanted = Math.min(this.#meter.estimatedWithin(limits.from), this.capTokens);
    const all = this.#estimated.system + sumSlotTokens(window.slots);
    // A window that fits as a whole has a floor that fits.
    const isAmple = isClipping && all <= Math.min(wanted, limits.most);
    const floor = isAmple ? 0 : this.estimateFloor(window);
    // A report may include unestimated tokens, which cannot be told apart from clippable ones.
    const counted = isClipping ? floor : this.#meter.counted(floor);
    if (counted > limits.most) throw createFloorError(counted, limits.most, model, isClipping);
    // Protected messages are found only if they could take more than is wanted.
    const mayExceed = isClipping && Math.max(floor, all) > wanted;
    const whole = mayExceed ? this.#estimateProtected(window) : floor;
    const kept = this.#meter.counted(whole) <= limits.most ? whole : floor;
    const tokens = Math.max(wanted, kept);
    this.#estimated.tokens = Math.min(tokens, forcedTokens);
    this.#estimated.window = Math.max(this.#meter.estimatedWithin(limits.window), tokens);
    this.#estimated.most = Math.min(Math.max(this.computeMost(window), tokens), forcedTokens);
  }

  /**
   * Estimated tokens up to which text of user and assistant stays in the window. Once content has left it, some room
   * is kept free for pages, so that no page ever makes other content leave.
   */
  computeMost(window: LoadedWindow): number {
    const most = Math.min(this.#meter.estimatedWithin(this.#settings.limits.most), this.capTokens);
    if (!this.#settings.isPaging || !hasRemovedContent(window)) return most;
    const isNear = this.#estimated.system + sumSlotTokens(window.slots) > most - MAX_PAGE_RESERVE;
    const room = isNear ? Math.max(0, most - this.#estimateProtected(window)) : most;
    return most - Math.min(MAX_PAGE_RESERVE, room * PAGE_RESERVE_SHARE);
  }

  /** Validates the policy's window and converts results without their calls to text, because providers refuse them. */
  #checkWindow(window: LoadedWindow, fitted: readonly Slot[]): readonly Slot[] {
    checkProposedWindow(this.#settings.policy.name, fitted, window);
    return withoutLostCalls(fitted, this.#settings.tokensOf);
  }

  #limitImages(slots: readonly Slot[], { pins }: LoadedWindow): readonly Slot[] {
    const { tokensOf } = this.#settings;
    const proposals = this.#stubImages(slots, { session: this.#session, tokensOf, pins });
    return proposals.length === 0
      ? slots
      : applyEdits(
          slots,
          proposals.map(({ edit }) => edit),
          tokensOf,
        );
  }
}

function countReplies(slots: readonly Slot[]): number {
  return slots.filter(({ message, isNote }) => message.role === "assistant" && !isNote).length;
}

/** True if windows differ at most in the parts of single messages. */
function isSameSlots(before: readonly Slot[], after: readonly Slot[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ seq, isNote, message }, index) => {
      const other = after[index] as Slot;
      if (message === other.message) return true;
      return (
        !isNote && !other.isNote && seq === other.seq && message.parts.length === other.message.parts.length
      );
    })
  );
}

/** True if windows show the same messages. */
function isSameWindow(before: readonly Slot[], after: readonly Slot[]): boolean {
  if (before.length !== after.length) return false;
  for (let index = 0; index < before.length; index++)
    if (before[index]?.message !== after[index]?.message) return false;
  return true;
}

/**
 * Throws ARGUMENT_INVALID if a policy's window cannot be stored as edits of the log: messages that are out of order,
 * repeated or from another conversation, or changed messages without their original.
 */
function checkProposedWindow(policy: string, slots: readonly Slot[], window: LoadedWindow): void {
  const refuse = (what: string): never => {
    throw createArgumentError(
      "policy",
      policy,
      `a policy that returns slots of the window in their order; ${what}`,
    );
  };
  if (!Array.isArray(slots)) refuse("it returned no array");
  if (slots.length === 0 && window.slots.length > 0) refuse("it returned none");
  // A lasting summary with several messages has several slots at one place.
  const known = Map.groupBy(
    window.slots.filter(({ isNote }) => !isNote),
    ({ seq }) => seq,
  );
  let last = window.line.from - 1;
  let times = 0;
  for (const { seq, isNote, message, original } of slots) {
    if (isNote) continue;
    if (!(seq >= window.line.from && seq <= window.line.to))
      refuse(`it returned ${seq}, which is not on the line`);
    const here = known.get(seq) ?? [];
    times = seq === last ? times + 1 : 1;
    if (seq < last || times > Math.max(1, here.length)) refuse(`it returned ${seq} behind ${last}`);
    const isSame = (slot: Slot) => {
      const said = slot.original ?? slot.message;
      return message === slot.message || message === said || original === said;
    };
    if (here.length > 0 && !here.some(isSame)) refuse(`it returned other words for ${seq}`);
    last = seq;
  }
}
