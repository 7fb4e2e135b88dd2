import type { BudgetScope } from "../model/budget.ts";

/** The facts about a request that decide which budgets count it. */
export interface BudgetedRequest {
  /** Undefined for the person of a gateway without tokens. */
  readonly person: string | undefined;
  readonly project: string | undefined;
  readonly model: string;
}

/** True if a budget counts a request. */
export function matchesBudget(budget: BudgetScope, request: BudgetedRequest): boolean {
  return (
    (budget.person === undefined || budget.person === request.person) &&
    (budget.project === undefined || budget.project === request.project) &&
    (budget.model === undefined || matchesName(budget.model, request.model))
  );
}

/** True if a name is equal to a pattern, or begins with a pattern that ends in "*". */
export function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
