import { checkFields } from "../model/argument-checks.ts";
import type { Message } from "../model/message.ts";
import type { TokenEstimator } from "../window/apply-edits.ts";
import { longhaul } from "../window/policies/longhaul.ts";
import type { Budget, Course, Moment, Policy, PolicyRun } from "../window/policy.ts";
import type { Slot } from "../window/slot.ts";
import { sumSlotTokens } from "../window/sum-slot-tokens.ts";
import { extractSummary } from "./extractive/extract-summary.ts";
import { dropShownLines } from "./plan/drop-shown-lines.ts";

/** Options of the `summarizing` policy. */
interface SummarizingOptions {
  /** Maximum share of the room after system prompt and tools that the summary may take. */
  readonly share?: number;
  readonly policy?: Policy;
}

const SHARE = 0.04;
const MIN_TOKENS = 400;
const MAX_TOKENS = 4_000;
const TITLE = "[Summary of earlier steps]";

/**
 * Adds an extractive summary to a policy: everything that leaves the window is also summarized in the fixed sections,
 * after the user's first request, and updated with each edit. Calls no model.
 */
export function summarizingPolicy(options: SummarizingOptions = {}): Policy {
  checkFields("options", options, { share: "number?", policy: "object?" });
  const { share = SHARE, policy = longhaul() } = options;
  return {
    name: `${policy.name}+summary`,
    start(budget, tokensOf, course = {}) {
      const room = (budget.tokens - budget.system) * share;
      const tokens = Math.floor(Math.min(MAX_TOKENS, Math.max(MIN_TOKENS, room)));
      return new SummarizingRun(policy, budget, tokensOf, course, tokens);
    },
  };
}

class SummarizingRun implements PolicyRun {
  readonly #inner: PolicyRun;
  readonly #tokensOf: TokenEstimator;
  readonly #summaryTokens: number;
  readonly #budget: Budget;
  #summary: Slot | undefined;
  #text: string | undefined;
  /** Messages of the window in their original form. */
  #shown = new Map<number, Slot>();
  reason: string | undefined;

  constructor(
    policy: Policy,
    budget: Budget,
    tokensOf: TokenEstimator,
    course: Course,
    summaryTokens: number,
  ) {
    const window = course.window?.filter((slot) => !isSummary(slot)) ?? [];
    this.#summary = course.window?.find(isSummary);
    this.#text = this.#summary && getText(this.#summary).slice(TITLE.length + 1);
    this.#tokensOf = tokensOf;
    this.#summaryTokens = summaryTokens;
    this.#budget = budget;
    const getSummaryTokens = () => this.#summary?.tokens ?? 0;
    // Only the summary that there is takes room: a reserve for a larger one would make each rebuild forget more.
    const smaller: Budget = {
      ...budget,
      get tokens() {
        return budget.tokens - getSummaryTokens();
      },
    };
    for (const slot of window) this.#track(slot);
    this.#inner = policy.start(smaller, tokensOf, { ...course, ...(course.window && { window }) });
  }

  digest(): void {
    this.#inner.digest?.();
  }

  observe(slot: Slot): void {
    this.#track(slot);
    this.#inner.observe(slot);
  }

  fit(moment: Moment): readonly Slot[] {
    const slots = this.#inner.fit(moment);
    this.reason = this.#inner.reason;
    const kept = new Set(slots.flatMap(({ seq, isNote }) => (isNote ? [] : [seq])));
    const left = [...this.#shown.values()].filter(({ seq }) => !kept.has(seq));
    if (left.length > 0) this.#summarize(left, slots);
    const summary = this.#summary;
    if (!summary) return slots;
    const first = slots.findIndex(({ message, isNote }) => message.role === "user" && !isNote);
    return [...slots.slice(0, first + 1), summary, ...slots.slice(first + 1)];
  }

  #track(slot: Slot): void {
    if (slot.isNote) return;
    const { original, ...rest } = slot;
    this.#shown.set(slot.seq, original ? { ...rest, message: original } : slot);
  }

  #summarize(left: readonly Slot[], window: readonly Slot[]): void {
    for (const { seq } of left) this.#shown.delete(seq);
    this.#text = extractSummary(left, { budgetTokens: this.#summaryTokens, previous: this.#text }).text;
    const news = dropShownLines(this.#text, window);
    if (news === "") {
      this.#summary = undefined;
      return;
    }
    const text = `${TITLE}\n${news}`;
    const message: Message = { role: "user", parts: [{ type: "text", text }] };
    const tokens = this.#tokensOf(message);
    const { seq, at } = left[0] as Slot;
    const isFitting = this.#budget.system + sumSlotTokens(window) + tokens <= this.#budget.tokens;
    this.#summary = isFitting
      ? { seq: Math.min(seq, this.#summary?.seq ?? seq), at, message, tokens, isNote: true }
      : undefined;
  }
}

function isSummary(slot: Slot): boolean {
  return slot.isNote === true && getText(slot).startsWith(TITLE);
}

function getText({ message }: Slot): string {
  const [part] = message.parts;
  return part?.type === "text" ? part.text : "";
}
