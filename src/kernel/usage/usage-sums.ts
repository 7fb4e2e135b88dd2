import { sumPromptTokens } from "../../model/usage.ts";
import { addSavings, addTotals, NO_SAVINGS, NO_TOTALS, type Savings, type Totals } from "../faces/window.ts";
import type { RequestUsage } from "./request-usage.ts";
import { SavingsBySize, type SizeSum } from "./size-sums.ts";

/** Totals of one day, model or other group. */
export interface NamedTotals {
  readonly name: string;
  readonly totals: Totals;
}

/** Sums the usage of requests by day, model and group; its size does not depend on the number of requests. */
export class UsageSums {
  readonly #groups = new Map<string, Totals>();
  readonly #days = new Map<string, Totals>();
  readonly #models = new Map<string, Totals>();
  #total = NO_TOTALS;
  #savings = NO_SAVINGS;
  #last: RequestUsage | undefined;
  readonly #sizes = new SavingsBySize();
  #conversation: { readonly id: string; longest: number; cost: number; savings: Savings } | undefined;

  /** Totals and savings by size of conversation; requests of a conversation are added one after another. */
  get sizes(): readonly SizeSum[] {
    this.#endConversation();
    return this.#sizes.list;
  }

  get total(): Totals {
    return this.#total;
  }

  /** Estimated savings of edits over all requests. */
  get savings(): Savings {
    return this.#savings;
  }

  /** The newest request. */
  get last(): RequestUsage | undefined {
    return this.#last;
  }

  /** Totals by UTC day, oldest first. */
  get days(): readonly NamedTotals[] {
    return toNamedTotals(this.#days).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Totals by model, most expensive first. */
  get models(): readonly NamedTotals[] {
    return toNamedTotals(this.#models).sort(compareCosts);
  }

  /** Totals by group, most expensive first. */
  get groups(): readonly NamedTotals[] {
    return toNamedTotals(this.#groups).sort(compareCosts);
  }

  /** Adds a request to its day, its model and the named group. */
  add(spent: RequestUsage, group?: string): void {
    const { at, model = "(unknown)", totals, savings } = spent;
    addToSums(this.#days, new Date(at).toISOString().slice(0, 10), totals);
    addToSums(this.#models, model, totals);
    if (group !== undefined) addToSums(this.#groups, group, totals);
    this.#total = addTotals(this.#total, totals);
    this.#savings = addSavings(this.#savings, savings);
    if (!this.#last || at >= this.#last.at) this.#last = spent;
    if (this.#conversation?.id !== spent.session) this.#endConversation();
    this.#conversation ??= { id: spent.session, longest: 0, cost: 0, savings: NO_SAVINGS };
    const prompt = sumPromptTokens(totals);
    const { longest } = this.#conversation;
    this.#conversation.longest = Math.max(longest, prompt + Math.max(0, savings.removedTokens));
    this.#conversation.cost += totals.cost;
    this.#conversation.savings = addSavings(this.#conversation.savings, savings);
  }

  #endConversation(): void {
    if (this.#conversation)
      this.#sizes.add(this.#conversation.longest, this.#conversation.cost, this.#conversation.savings);
    this.#conversation = undefined;
  }
}

function compareCosts({ totals: one }: NamedTotals, { totals: other }: NamedTotals): number {
  return other.cost - one.cost || other.requests - one.requests;
}

function addToSums(sums: Map<string, Totals>, name: string, totals: Totals): void {
  sums.set(name, addTotals(sums.get(name) ?? NO_TOTALS, totals));
}

function toNamedTotals(sums: ReadonlyMap<string, Totals>): NamedTotals[] {
  return [...sums].map(([name, totals]) => ({ name, totals }));
}
