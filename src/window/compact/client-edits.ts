import { checkFields } from "../../model/argument-checks.ts";
import { listAnsweredCallIds } from "../../model/tool-calls.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import { applyProposals, type Pass, type PassContext } from "../pass.ts";
import { clearReasoning } from "../passes/clear-reasoning.ts";
import { type ClearOptions, clearResults } from "../passes/clear-results.ts";
import { longhaul } from "../policies/longhaul.ts";
import { withoutLostCalls } from "../policies/lost-calls.ts";
import type { Course, Moment, Policy, PolicyLimits, PolicyRun } from "../policy.ts";
import { MIN_FREED_SHARE } from "../session/edit-guard.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { compactSlots } from "./compact-slots.ts";

/** Edits that a client requests for its window; tokens as the provider counts them. */
export interface ClientEdits {
  /** Keeps reasoning only in this many of the latest turns that have any. */
  readonly reasoning?: { readonly keepTurns: number };
  readonly results?: Omit<ClearOptions, "enough" | "isSpared">;
  /** Summarizes older messages once the request reaches this many tokens. */
  readonly compact?: { readonly tokens: number; readonly instructions?: string | undefined };
}

interface ClientEditsOptions {
  /** Policy that enforces the limits if the edits are not enough; `longhaul` by default. */
  readonly base?: Policy;
  /** The model's window as the provider counts it; if absent, triggers are compared with estimates. */
  readonly windowTokens?: number;
}

const PAST_TOKENS = 300_000;

/**
 * A policy that applies the client's edits, and another policy if a limit would otherwise be exceeded. Cleared
 * content stays cleared, whatever the other policy does.
 */
export function clientEdits(edits: ClientEdits, options: ClientEditsOptions = {}): Policy {
  checkFields("edits", edits);
  const { base = longhaul(), windowTokens } = checkFields("options", options, { base: "object?" });
  return {
    name: `client+${base.name}`,
    isStrict: true,
    start: (limits, tokensOf, course = {}) =>
      new ClientEditsRun({ edits, base, windowTokens, limits, tokensOf, course }),
  };
}

interface ClientEditsDeps {
  readonly edits: ClientEdits;
  readonly base: Policy;
  readonly windowTokens: number | undefined;
  readonly limits: PolicyLimits;
  readonly tokensOf: TokenEstimator;
  readonly course: Course;
}

class ClientEditsRun implements PolicyRun {
  readonly #deps: ClientEditsDeps;
  readonly #context: PassContext;
  #window: readonly Slot[];
  #arrived: Slot[] = [];
  #past: readonly Slot[];
  #calls: number;
  /** Limit of the last fit; if it is the same and there are no new messages, there is nothing to do. */
  #fittedTokens: number | undefined;
  #reasons = new Set<string>();
  reason: string | undefined;

  constructor(parts: ClientEditsDeps) {
    const { limits, tokensOf, course } = parts;
    this.#deps = parts;
    this.#context = { session: "", tokensOf, pins: course.pins ?? new Set(), systemTokens: limits.system };
    this.#window = course.window ?? [];
    this.#past = course.past ?? [];
    this.#calls = course.calls ?? 0;
  }

  observe(slot: Slot): void {
    this.#arrived.push(slot);
  }

  fit(moment: Moment): readonly Slot[] {
    const { limits } = this.#deps;
    this.reason = undefined;
    if (this.#arrived.length === 0 && limits.tokens === this.#fittedTokens) return this.#window;
    this.#calls++;
    this.#fittedTokens = limits.tokens;
    this.#reasons = new Set();
    const slots = [...this.#window, ...this.#arrived];
    this.#arrived = [];
    this.#window = this.#enforceLimits(
      withoutLostCalls(this.#applyEdits(slots), this.#deps.tokensOf),
      moment,
    );
    const isChanged = slots.some(({ message }, index) => this.#window[index]?.message !== message);
    if (isChanged) this.reason = [...this.#reasons].join(", ") || "results without their call as words";
    return this.#window;
  }

  #applyEdits(slots: readonly Slot[]): readonly Slot[] {
    const { edits, tokensOf, limits } = this.#deps;
    const { reasoning, results, compact } = edits;
    let window = slots;
    if (reasoning) window = this.#runPass(window, clearReasoning(reasoning));
    if (results) window = this.#runPass(window, clearResults(this.#toEstimatedOptions(results)));
    if (!compact || limits.system + sumSlotTokens(window) < this.#toEstimate(compact.tokens)) return window;
    const { instructions } = compact;
    const { pins = new Set<number>() } = this.#context;
    const compacted = compactSlots(window, { tokensOf, pins, instructions });
    // A first request above the trigger must not cause a new summary on every call.
    const freed = sumSlotTokens(window) - sumSlotTokens(compacted);
    if (freed < (limits.system + sumSlotTokens(window)) * MIN_FREED_SHARE) return window;
    this.#reasons.add("summarised as the client asked");
    return compacted;
  }

  #runPass(slots: readonly Slot[], pass: Pass): readonly Slot[] {
    const systemTokens = this.#deps.limits.system;
    const proposals = pass(slots, { ...this.#context, systemTokens });
    for (const { reason } of proposals) this.#reasons.add(reason);
    return applyProposals(slots, proposals, this.#deps.tokensOf);
  }

  /** Converts the provider's count to estimates, using the ratio between the two in the limits. */
  #toEstimate(tokens: number): number {
    const { windowTokens, limits } = this.#deps;
    return windowTokens === undefined ? tokens : (tokens * limits.window) / windowTokens;
  }

  #toEstimatedOptions({ trigger, clearAtLeast, ...rest }: NonNullable<ClientEdits["results"]>): ClearOptions {
    return {
      ...rest,
      ...(trigger && {
        trigger: "tokens" in trigger ? { tokens: this.#toEstimate(trigger.tokens) } : trigger,
      }),
      ...(clearAtLeast !== undefined && { clearAtLeast: this.#toEstimate(clearAtLeast) }),
    };
  }

  /** Enforces the limits with the base policy, which sees the edited window, so that it restores no cleared content. */
  #enforceLimits(slots: readonly Slot[], moment: Moment): readonly Slot[] {
    const { base, limits, tokensOf, course } = this.#deps;
    const { tokens, system, messages = Number.POSITIVE_INFINITY } = limits;
    if (system + sumSlotTokens(slots) <= tokens && slots.length <= messages) return slots;
    const window = slots.map(hideOriginal);
    const run = base.start(limits, tokensOf, { ...course, window, past: this.#past, calls: this.#calls });
    const fitted = restoreOriginals(run.fit(moment), slots);
    this.#reasons.add(run.reason ?? base.name);
    this.#keepPast(slots, fitted);
    return fitted;
  }

  /** Keeps removed messages for the base policy, which may bring some back. */
  #keepPast(before: readonly Slot[], after: readonly Slot[]): void {
    const { tokensOf } = this.#deps;
    const shown = new Set(after.flatMap(({ seq, isNote }) => (isNote ? [] : [seq])));
    const left = before
      .filter(({ seq, isNote }) => !isNote && !shown.has(seq))
      .map(
        ({ original, ...slot }): Slot =>
          original ? { ...slot, message: original, tokens: tokensOf(original) } : slot,
      );
    let room = PAST_TOKENS;
    this.#past = [...this.#past, ...left]
      .toReversed()
      .filter(({ tokens }) => {
        room -= tokens;
        return room >= 0;
      })
      .toReversed();
  }
}

/** Restores the original messages of slots, which were hidden from the base policy. */
function restoreOriginals(fitted: readonly Slot[], before: readonly Slot[]): readonly Slot[] {
  const byMessage = new Map(before.map((slot) => [slot.message, slot]));
  const bySeq = new Map(before.filter(({ isNote }) => !isNote).map((slot) => [slot.seq, slot]));
  return fitted.map((slot) => {
    const same = byMessage.get(slot.message);
    if (same) return same;
    const own = slot.isNote ? undefined : bySeq.get(slot.seq);
    return own ? { ...slot, original: own.original ?? own.message } : slot;
  });
}

/**
 * Makes a cleared message look original to the base policy. A result converted to text keeps its original, so that it
 * is not taken for the user's words.
 */
function hideOriginal(slot: Slot): Slot {
  const { original, ...rest } = slot;
  return original && listAnsweredCallIds(original).length === listAnsweredCallIds(slot.message).length
    ? rest
    : slot;
}
