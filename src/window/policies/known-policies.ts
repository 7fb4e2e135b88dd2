import { createArgumentError } from "../../model/errors.ts";
import type { ToolResultPart } from "../../model/part.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import { clipSlots } from "../clip-slots.ts";
import { findOldestRemovable, proposeHiding } from "../hide-slots.ts";
import { dropOldPages, isPage } from "../paging/page-note.ts";
import { applyProposals, type Pass, type PassContext } from "../pass.ts";
import { type ClearOptions, clearResults } from "../passes/clear-results.ts";
import { stubDuplicateReads } from "../passes/stub-duplicate-reads.ts";
import {
  getHistoryLimits,
  limitHistory,
  type TruncateHead,
  truncateMessages,
} from "../passes/truncate-messages.ts";
import type { PlacedResult } from "../placed-result.ts";
import {
  type Course,
  getProviderLimits,
  type Moment,
  type Policy,
  type PolicyLimits,
  type PolicyRun,
  type ProviderLimits,
} from "../policy.ts";
import { findNewestQuestion, findProtectedSeqs, findVerbatimSeqs } from "../protected-seqs.ts";
import { shrinkPart } from "../replace-part.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { buildStubText, describeTextSize, getStubPlace, hasStub } from "../stub.ts";
import { getWindowIndex } from "../window-index.ts";
import { longhaul } from "./longhaul.ts";
import { withoutLostCalls } from "./lost-calls.ts";

/** Input for the decision of a policy step. */
interface StepContext extends Moment {
  /** The model's limits; these and all token counts here are as the provider counts. */
  readonly limits: Pick<ProviderLimits, "window" | "tokens">;
  readonly pins: ReadonlySet<number>;
  /** Tokens of the whole request before the first step. */
  readonly tokensBefore: number;
  /** Tokens of a request with these messages. */
  readonly tokensWith: (slots: readonly Slot[]) => number;
  /** True if the window exceeded the limit before the first step. */
  readonly isOverLimit: boolean;
}

/** One step of a policy: returns the pass to run on the current window, if any. */
type PolicyStep = (slots: readonly Slot[], context: StepContext) => Pass | undefined;

/** A policy as data: its steps, and the part of the conversation's beginning that always stays. */
interface EditRules {
  readonly head: TruncateHead;
  readonly steps: readonly PolicyStep[];
}

/**
 * A policy that edits the last window plus the messages since, so its edits are permanent. If its steps do not meet the
 * limit, the oldest messages leave until the window fits. Unchanged slots remain the same objects.
 */
function createEditPolicy(name: string, rules: EditRules): Policy {
  return { name, start: (limits, tokensOf, course = {}) => startRun(rules, limits, tokensOf, course) };
}

function startRun(
  rules: EditRules,
  limits: PolicyLimits,
  tokensOf: TokenEstimator,
  course: Course,
): PolicyRun {
  const pins = course.pins ?? new Set<number>();
  const provider = getProviderLimits(limits);
  const counted = (estimated: number) => provider.counted(estimated);
  let window = course.window ?? [];
  let arrived: Slot[] = [];
  /** A window taken over from elsewhere may contain messages that no step has seen. */
  let isUnseen = window.some(({ seq, isNote }) => !isNote && seq > (course.editedSeq ?? 0));
  let reason: string | undefined;

  function fit(moment: Moment): readonly Slot[] {
    // The tokens of the system prompt may change from call to call.
    const passContext: PassContext = { session: "", tokensOf, pins, systemTokens: limits.system, counted };
    const given = [...window, ...arrived];
    const reasons = new Set<string>();
    const carryOut = (slots: readonly Slot[], pass: Pass | undefined) => {
      const proposals = pass?.(slots, passContext) ?? [];
      for (const proposal of proposals) reasons.add(proposal.reason);
      return applyProposals(slots, proposals, tokensOf);
    };
    if (arrived.length > 0 || isUnseen) {
      arrived = [];
      isUnseen = false;
      const estimated = (some: readonly Slot[]) => limits.system + sumSlotTokens(some);
      const tokensWith = (some: readonly Slot[]) => counted(estimated(some));
      const context: StepContext = {
        ...moment,
        limits: provider,
        pins,
        tokensWith,
        tokensBefore: tokensWith(given),
        isOverLimit: estimated(given) > limits.tokens,
      };
      const edited = rules.steps.reduce(
        (now, step) => carryOut(now, step(now, context)),
        given as readonly Slot[],
      );
      const isCut = edited !== given;
      window = withoutLostCalls(isCut ? dropOldPages(edited, findNewestQuestion(edited)) : edited, tokensOf);
    }
    if (limits.messages !== undefined) window = carryOut(window, limitHistory(limits.messages));
    window = shrinkToLimit(window, limits.tokens - limits.system, rules.head, carryOut, passContext);
    const isEdited = given.some((slot, index) => window[index] !== slot);
    reason = isEdited ? [...reasons].join(", ") || "clipped to fit" : undefined;
    return window;
  }

  return {
    observe(slot) {
      // A page is sent with the window that was just fitted, so it does not trigger an edit of that window.
      if (isPage(slot) && arrived.length === 0) window = [...window, slot];
      else arrived.push(slot);
    },
    fit,
    get reason() {
      return reason;
    },
  };
}

/**
 * Shrinks a window to at most `most` tokens: repeatedly drops half of it, then the whole head except the user's first
 * message, then the oldest notes. Clips whatever is still too large; protected messages are clipped only if nothing
 * else helps, and pins, the newest question and the latest reply never are.
 */
function shrinkToLimit(
  slots: readonly Slot[],
  most: number,
  head: TruncateHead,
  carryOut: (slots: readonly Slot[], pass: Pass) => readonly Slot[],
  { tokensOf, pins }: PassContext,
): readonly Slot[] {
  let window = slots;
  for (const fixed of new Set<TruncateHead>([head, "message"])) {
    while (sumSlotTokens(window) > most) {
      const next = carryOut(window, truncateMessages("half", { head: fixed, isForced: true }));
      if (next === window || next.length === window.length) break;
      window = next;
    }
  }
  if (sumSlotTokens(window) <= most) return window;
  const kept = findProtectedSeqs(window, pins);
  const rest = dropNotes(window, kept, most);
  const spared = clipSlots(rest, most, tokensOf, ({ seq, isNote }) => !isNote && kept.has(seq));
  const verbatim = findVerbatimSeqs(spared, pins);
  return clipSlots(spared, most, tokensOf, ({ seq, isNote }, { type }) => {
    return !isNote && verbatim.has(seq) && (type !== "tool-result" || (pins?.has(seq) ?? false));
  });
}

/** Drops the oldest notes until the window fits. */
function dropNotes(slots: readonly Slot[], kept: ReadonlySet<number>, most: number): readonly Slot[] {
  let excess = sumSlotTokens(slots) - most;
  return slots.filter(({ isNote, seq, tokens }) => {
    if (!isNote || kept.has(seq) || excess <= 0) return true;
    excess -= tokens;
    return false;
  });
}

const MIN_PERCENT = 5;

/** Sends everything, whether it fits or not. */
export function nonePolicy(): Policy {
  return {
    name: "none",
    start(_limits, _tokensOf, course = {}) {
      const slots = [...(course.window ?? [])];
      return { observe: (slot) => void slots.push(slot), fit: () => [...slots] };
    },
  };
}

interface ClineOptions {
  /** Number of tokens at which it cuts; by default depends on the window size. */
  readonly maxAllowed?: number;
}

const BUFFERS: ReadonlyMap<number, number> = new Map([
  [64_000, 27_000],
  [128_000, 30_000],
  [200_000, 40_000],
]);
const DEFAULT_BUFFER = 40_000;
const DEFAULT_SHARE = 0.8;
const ENOUGH_SAVED = 0.3;

/**
 * Cline's truncation: at the threshold, repeated reads of a file leave first. If that saves less than 30 %, half of the
 * messages after the first exchange leave, or three quarters if half of the tokens would still be too many.
 */
export function clinePolicy({ maxAllowed }: ClineOptions = {}): Policy {
  const allowedIn = ({ limits }: StepContext) => maxAllowed ?? computeMaxAllowedTokens(limits.window);
  const isDue = (context: StepContext) => context.tokensBefore >= allowedIn(context) || context.isOverLimit;
  return createEditPolicy("cline", {
    head: "exchange",
    steps: [
      (_, context) => (isDue(context) ? stubDuplicateReads : undefined),
      (slots, context) => {
        const { tokensBefore, tokensWith } = context;
        const saved = tokensBefore - tokensWith(slots);
        if (!isDue(context) || saved >= (tokensBefore - tokensWith([])) * ENOUGH_SAVED) return undefined;
        return truncateMessages(tokensBefore / 2 > allowedIn(context) ? "quarter" : "half");
      },
    ],
  });
}

/** The number of tokens at which Cline cuts. */
export function computeMaxAllowedTokens(window: number): number {
  const buffer = BUFFERS.get(window);
  if (buffer !== undefined) return window - buffer;
  return Math.max(window - DEFAULT_BUFFER, window * DEFAULT_SHARE);
}

interface RooOptions {
  /** Condenses before truncation becomes necessary; off by default. */
  readonly condense?: CondenseOptions;
}

/** When and how Roo condenses. Without a model to summarize them, condensed messages simply leave. */
export interface CondenseOptions {
  /** Percentage of the allowed tokens at which it condenses, 5 to 100; default 50. */
  readonly threshold?: number;
  /** Condenses when there are more messages than this; default 200. */
  readonly messages?: number;
  /** Number of latest messages that stay in addition to the first; default 3. */
  readonly keep?: number;
}

const BUFFER_SHARE = 0.1;
const CONDENSE = { threshold: 50, messages: 200, keep: 3 } as const;

/**
 * Roo's sliding window: when a request exceeds nine tenths of the window minus the reply, half of the messages after
 * the first leave. With `condense`, all but the first message and the last three leave earlier.
 */
export function rooPolicy({ condense }: RooOptions = {}): Policy {
  const { threshold, messages, keep } = { ...CONDENSE, ...condense };
  const share = toShare("condense.threshold", threshold);
  return createEditPolicy("roo", {
    head: "message",
    steps: [
      (slots, { limits, tokensBefore }) => {
        const isDue = tokensBefore >= computeAllowedTokens(limits) * share || slots.length > messages;
        return condense && isDue ? keepEnds(keep) : undefined;
      },
      (slots, { limits, tokensWith }) => {
        const isOver = tokensWith(slots) > computeAllowedTokens(limits);
        return isOver ? truncateMessages("half", { head: "message" }) : undefined;
      },
    ],
  });
}

/** Maximum tokens that Roo allows for a request. */
export function computeAllowedTokens({ window, tokens }: Pick<ProviderLimits, "window" | "tokens">): number {
  const reserved = window - tokens;
  return window * (1 - BUFFER_SHARE) - reserved;
}

/** Hides all groups between the first user message and the `latest` messages. */
export function keepEnds(latest: number): Pass {
  return (slots, context) => {
    const kept = findProtectedSeqs(slots, context.pins);
    const start = slots.length - latest;
    const old = getWindowIndex(slots).groups.filter(({ to }) => to < start);
    const units = findOldestRemovable(slots, old, kept, () => false);
    const leaving = units.filter((unit) => unit.every((index) => index < start));
    return proposeHiding(slots, leaving.flat(), `all but the last ${latest} messages`, context);
  };
}

interface OpenclawOptions {
  /** Percentage of the window at which half of the messages leave, 5 to 100; default 80. */
  readonly threshold?: number;
  /** Maximum number of messages; by default depends on the window size. */
  readonly messages?: number;
  /** Turns between two summaries; by default depends on the window size. */
  readonly turns?: number;
}

/** Only results before this many of the latest replies may be pruned. */
const KEPT_REPLIES = 3;

/** Share of the window from which long results are trimmed to head and tail. */
const TRIM_SHARE = 0.3;
const TRIM = { longerThan: 4_000, head: 1_500, tail: 1_500 } as const;

/** Share of the window that clearing the oldest results aims for. */
const CLEAR_SHARE = 0.5;

/** Clearing is skipped if it could remove fewer characters than this. */
const MIN_CLEARED_CHARACTERS = 50_000;

/**
 * OpenClaw's policy: limits the number of messages by the window size, prunes old tool results once the provider's
 * cache has expired, and compacts at 80 %; without a model, compaction means that half of the messages leave. Where
 * summaries are on, they are also due after a number of turns, fewer in a smaller window.
 */
export function openclawPolicy({ threshold = 80, messages, turns }: OpenclawOptions = {}): Policy {
  const share = toShare("threshold", threshold);
  const policy = createEditPolicy("openclaw", {
    head: "message",
    steps: [
      (_, { limits }) => limitHistory(messages ?? getHistoryLimits(limits.window).messages),
      (slots, { isHot, limits, tokensWith }) => {
        const isDue = !isHot && tokensWith(slots) > limits.window * TRIM_SHARE;
        return isDue ? trimResults({ ...TRIM, isSpared: createSparedFilter(slots) }) : undefined;
      },
      (slots, { isHot, limits, tokensWith }) => {
        const enough = tokensWith(slots) - limits.window * CLEAR_SHARE;
        if (isHot || enough <= 0) return undefined;
        const isSpared = createSparedFilter(slots);
        const characters = getWindowIndex(slots).results.reduce((sum, answer) => {
          return sum + (isSpared(answer) ? 0 : (getPlainResultText(answer.result)?.length ?? 0));
        }, 0);
        return characters < MIN_CLEARED_CHARACTERS ? undefined : clearResults({ keep: 0, enough, isSpared });
      },
      (slots, { limits, tokensWith }) => {
        const isFull = tokensWith(slots) > limits.window * share;
        return isFull ? truncateMessages("half", { head: "message" }) : undefined;
      },
    ],
  });
  return {
    ...policy,
    maxMessages: (window) => messages ?? getHistoryLimits(window).messages,
    maxTurns: (window) => turns ?? getHistoryLimits(window).turns,
  };
}

/** Only text results between the first user message and the latest replies may be pruned. */
function createSparedFilter(slots: readonly Slot[]): (answer: PlacedResult) => boolean {
  const replies = slots.flatMap(({ message }, index) => (message.role === "assistant" ? [index] : []));
  const end = replies.length < KEPT_REPLIES ? -1 : (replies.at(-KEPT_REPLIES) ?? -1);
  const start = slots.findIndex(({ message }) => message.role === "user");
  const isBetween = (slot: number) => start >= 0 && slot > start && slot < end;
  return ({ slot, result }) => !isBetween(slot) || getPlainResultText(result) === undefined;
}

/** Selects the results to trim, and the number of characters to keep at head and tail. */
interface TrimOptions {
  readonly longerThan: number;
  readonly head: number;
  readonly tail: number;
  /** Results that stay unchanged. */
  readonly isSpared?: (answer: PlacedResult) => boolean;
}

/** Trims long text-only results to their head and tail. */
export function trimResults(options: TrimOptions): Pass {
  return (slots, context) => {
    const kept = findProtectedSeqs(slots, context.pins);
    return getWindowIndex(slots).results.flatMap((answer) => {
      const slot = slots[answer.slot] as Slot;
      const text = getPlainResultText(answer.result);
      const isLong = text !== undefined && text.length > options.longerThan && !hasStub(text);
      if (!isLong || kept.has(slot.seq) || options.isSpared?.(answer)) return [];
      const output = [{ type: "text" as const, text: trimText(text, slot, options, context) }];
      return shrinkPart(slot, answer.part, { ...answer.result, output }, "long old tool result", context);
    });
  };
}

/** The text of a result; undefined if it contains anything other than text. */
function getPlainResultText({ output }: ToolResultPart): string | undefined {
  const texts = output.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === output.length ? texts.join("\n") : undefined;
}

function trimText(text: string, slot: Slot, { head, tail }: TrimOptions, context: PassContext): string {
  const size = describeTextSize(text.length - head - tail);
  const stub = buildStubText({ what: "The middle of a result", size, ...getStubPlace(slot, context) });
  return `${text.slice(0, head).toWellFormed()}\n${stub}\n${tail > 0 ? text.slice(-tail).toWellFormed() : ""}`;
}

const TRIGGER_SHARE = 0.5;

/** Options of Anthropic's `clear_tool_uses`. */
export type AnthropicClearOptions = Omit<ClearOptions, "enough" | "isSpared">;

/**
 * Anthropic's clear_tool_uses: by default, clears the results of all but the last three calls once half of the window
 * is used. Messages leave only if that is not enough.
 */
export function anthropicClearPolicy(options: AnthropicClearOptions = {}): Policy {
  return createEditPolicy("anthropic-clear", {
    head: "exchange",
    steps: [
      (_, { limits }) => clearResults({ trigger: { tokens: limits.window * TRIGGER_SHARE }, ...options }),
    ],
  });
}

/** All policies, the default first. */
export const POLICIES: readonly Policy[] = [
  longhaul(),
  nonePolicy(),
  clinePolicy(),
  rooPolicy(),
  openclawPolicy(),
  anthropicClearPolicy(),
];

/** Converts a percentage from 5 to 100 to a share; throws ARGUMENT_INVALID for anything else. */
function toShare(option: string, value: number): number {
  if (!(value >= MIN_PERCENT && value <= 100))
    throw createArgumentError(option, value, "a percentage from 5 to 100");
  return value / 100;
}
