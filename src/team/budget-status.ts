import type { TeamBudget } from "../model/budget.ts";
import type { BudgetUse } from "../store/budget-store.ts";
import { findPeriodEnd } from "./budget-period.ts";

/** A budget with its use in the current period. */
export interface BudgetStatus extends TeamBudget {
  readonly spent: number;
  /** Estimates of requests in flight. */
  readonly reserved: number;
  /** Undefined for "total". */
  readonly resetsAt?: number;
}

/** A budget with its use, which is undefined if it was not used in the current period. */
export function toBudgetStatus(budget: TeamBudget, use: BudgetUse | undefined, now: number): BudgetStatus {
  const resetsAt = findPeriodEnd(budget.period, now);
  const { spent = 0, reserved = 0 } = use ?? {};
  return { ...budget, spent, reserved, ...(resetsAt !== undefined && { resetsAt }) };
}
