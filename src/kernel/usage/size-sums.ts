import { addSavings, NO_SAVINGS, type Savings } from "../faces/window.ts";

const SIZES = [
  { name: "below 50k", below: 50_000 },
  { name: "50k to 200k", below: 200_000 },
  { name: "above 200k", below: Number.POSITIVE_INFINITY },
] as const;

export const SIZE_NAMES = SIZES.map(({ name }) => name);

/** Conversations of one size, by the tokens of their longest request without edits. */
export interface SizeSum {
  readonly name: (typeof SIZES)[number]["name"];
  readonly conversations: number;
  /** US dollars of their requests. */
  readonly cost: number;
  readonly savings: Savings;
}

/** Sums conversations by size, because edits pay in long ones only. */
export class SavingsBySize {
  readonly #sums = new Map<string, Omit<SizeSum, "name">>();

  add(longestTokens: number, cost: number, savings: Savings): void {
    const { name } = SIZES.find(({ below }) => longestTokens < below) ?? SIZES[2];
    const known = this.#sums.get(name) ?? NONE;
    this.#sums.set(name, {
      conversations: known.conversations + 1,
      cost: known.cost + cost,
      savings: addSavings(known.savings, savings),
    });
  }

  /** All sizes, the smallest first. */
  get list(): readonly SizeSum[] {
    return SIZES.map(({ name }) => ({ name, ...(this.#sums.get(name) ?? NONE) }));
  }
}

const NONE = { conversations: 0, cost: 0, savings: NO_SAVINGS };
