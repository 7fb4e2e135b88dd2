/** Units in which budgets are counted. */
export const BUDGET_UNITS = ["usd", "tokens", "requests"] as const;
/** Periods after which budgets begin again; "total" never does. */
export const BUDGET_PERIODS = ["minute", "day", "week", "month", "total"] as const;

export type BudgetUnit = (typeof BUDGET_UNITS)[number];
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** The requests that a budget counts: those that match every field that is set. */
export interface BudgetScope {
  /** Undefined: all people together. */
  readonly person?: string;
  readonly project?: string;
  /** A name, or a prefix that ends in "*". */
  readonly model?: string;
}

/** The most that may be used in a period; a budget per minute is a rate limit. */
export interface BudgetRule extends BudgetScope {
  readonly amount: number;
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
}

/** The ids of ceilings: the most that the gateway itself may spend in a day for a purpose, over all gateways. */
export const CEILING_PREFIX = "ceiling:";

/** A stored budget. Another amount for the same requests, unit and period has the same id. */
export interface TeamBudget extends BudgetRule {
  readonly id: string;
}
