import type { TokensOf } from "../apply-edits.ts";
import { isPage, withoutOldPages } from "../paging/page-note.ts";
import { applyProposals, type Pass, type PassContext } from "../pass.ts";
import { historyLimit } from "../passes/history-limit.ts";
import type { Head } from "../passes/truncate.ts";
import {
  type Budget,
  type Course,
  type Moment,
  type Policy,
  type PolicyRun,
  type ProviderLimits,
  providerLimits,
} from "../policy.ts";
import { newestQuestion } from "../protected.ts";
import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";
import { withoutLostCalls } from "./lost-calls.ts";
import { withinBudget } from "./within-budget.ts";

/** What a step of a policy may decide by. */
export interface StepContext extends Moment {
  /** The model's limits; they and all tokens here are as the provider counts. */
  readonly limits: Pick<ProviderLimits, "window" | "tokens">;
  readonly pins: ReadonlySet<number>;
  /** Tokens of the whole request before the first step. */
  readonly tokensBefore: number;
  /** Tokens of a request with these messages. */
  readonly tokensWith: (slots: readonly Slot[]) => number;
  /** True if the window was beyond its budget before the first step. */
  readonly isOverBudget: boolean;
}

/** One step of a policy: the pass that is to be carried out on the window as it is now, if any. */
export type Step = (slots: readonly Slot[], context: StepContext) => Pass | undefined;

/** A policy as data: passes, when they are carried out, and what is kept at the beginning whatever happens. */
export interface EditRules {
  readonly head: Head;
  readonly steps: readonly Step[];
}

/**
 * A policy that edits the window it sent last, with what has come since; edits therefore hold for good. Where its steps
 * are not enough for the budget, the oldest leave until it is kept. Slots that are not changed stay the very same objects.
 */
export function editPolicy(name: string, rules: EditRules): Policy {
  return { name, start: (budget, tokensOf, course = {}) => startRun(rules, budget, tokensOf, course) };
}

function startRun(rules: EditRules, budget: Budget, tokensOf: TokensOf, course: Course): PolicyRun {
  const pins = course.pins ?? new Set<number>();
  const limits = providerLimits(budget);
  const counted = (estimated: number) => limits.counted(estimated);
  let window = course.window ?? [];
  let arrived: Slot[] = [];
  /** A window that was taken over may hold messages that no step has seen. */
  let isUnseen = window.length > 0;
  let reason: string | undefined;

  function fit(moment: Moment): readonly Slot[] {
    // Tokens of the system prompt may change from call to call.
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
      const estimated = (some: readonly Slot[]) => budget.system + sizeOf(some);
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
      window = withoutLostCalls(isCut ? withoutOldPages(edited, newestQuestion(edited)) : edited, tokensOf);
    }
    if (budget.messages !== undefined) window = carryOut(window, historyLimit(budget.messages));
    window = withinBudget(window, budget.tokens - budget.system, rules.head, carryOut, passContext);
    const isEdited = given.some((slot, index) => window[index] !== slot);
    reason = isEdited ? [...reasons].join(", ") || "clipped to fit" : undefined;
    return window;
  }

  return {
    observe(slot) {
      // A page goes out with the window that was just fitted: it is no reason to edit that.
      if (isPage(slot) && arrived.length === 0) window = [...window, slot];
      else arrived.push(slot);
    },
    fit,
    get reason() {
      return reason;
    },
  };
}
