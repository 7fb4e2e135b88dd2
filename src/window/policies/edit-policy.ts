import type { TokenEstimator } from "../apply-edits.ts";
import { clipSlots } from "../clip-slots.ts";
import { dropOldPages, isPage } from "../paging/page-note.ts";
import { applyProposals, type Pass, type PassContext } from "../pass.ts";
import { limitHistory } from "../passes/limit-history.ts";
import { type TruncateHead, truncateMessages } from "../passes/truncate-messages.ts";
import {
  type Budget,
  type Course,
  getProviderLimits,
  type Moment,
  type Policy,
  type PolicyRun,
  type ProviderLimits,
} from "../policy.ts";
import { findNewestQuestion, findProtectedSeqs, findVerbatimSeqs } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";
import { sumSlotTokens } from "../sum-slot-tokens.ts";
import { withoutLostCalls } from "./lost-calls.ts";

/** Input for the decision of a policy step. */
export interface StepContext extends Moment {
  /** The model's limits; these and all token counts here are as the provider counts. */
  readonly limits: Pick<ProviderLimits, "window" | "tokens">;
  readonly pins: ReadonlySet<number>;
  /** Tokens of the whole request before the first step. */
  readonly tokensBefore: number;
  /** Tokens of a request with these messages. */
  readonly tokensWith: (slots: readonly Slot[]) => number;
  /** True if the window exceeded its budget before the first step. */
  readonly isOverBudget: boolean;
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
 * budget, the oldest messages leave until the window fits. Unchanged slots remain the same objects.
 */
export function createEditPolicy(name: string, rules: EditRules): Policy {
  return { name, start: (budget, tokensOf, course = {}) => startRun(rules, budget, tokensOf, course) };
}

function startRun(rules: EditRules, budget: Budget, tokensOf: TokenEstimator, course: Course): PolicyRun {
  const pins = course.pins ?? new Set<number>();
  const limits = getProviderLimits(budget);
  const counted = (estimated: number) => limits.counted(estimated);
  let window = course.window ?? [];
  let arrived: Slot[] = [];
  /** A window taken over from elsewhere may contain messages that no step has seen. */
  let isUnseen = window.some(({ seq, isNote }) => !isNote && seq > (course.editedSeq ?? 0));
  let reason: string | undefined;

  function fit(moment: Moment): readonly Slot[] {
    // The tokens of the system prompt may change from call to call.
    const passContext: PassContext = { session: "", tokensOf, pins, systemTokens: budget.system, counted };
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
      const estimated = (some: readonly Slot[]) => budget.system + sumSlotTokens(some);
      const tokensWith = (some: readonly Slot[]) => counted(estimated(some));
      const context: StepContext = {
        ...moment,
        limits,
        pins,
        tokensWith,
        tokensBefore: tokensWith(given),
        isOverBudget: estimated(given) > budget.tokens,
      };
      const edited = rules.steps.reduce(
        (now, step) => carryOut(now, step(now, context)),
        given as readonly Slot[],
      );
      const isCut = edited !== given;
      window = withoutLostCalls(isCut ? dropOldPages(edited, findNewestQuestion(edited)) : edited, tokensOf);
    }
    if (budget.messages !== undefined) window = carryOut(window, limitHistory(budget.messages));
    window = shrinkToBudget(window, budget.tokens - budget.system, rules.head, carryOut, passContext);
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
function shrinkToBudget(
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
