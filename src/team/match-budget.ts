import type { BudgetScope } from "../model/budget.ts";
import { parseModelId } from "../model/model-id.ts";

/** The facts about a request that decide which budgets count it. */
export interface BudgetedRequest {
  /** Undefined for the person of a gateway without tokens. */
  readonly person: string | undefined;
  readonly project: string | undefined;
  /** The model that is asked for, then every other one that may answer instead. */
  readonly models: readonly string[];
}

/** True if a budget counts a request. */
export function matchesBudget(budget: BudgetScope, request: BudgetedRequest): boolean {
  return (
    (budget.person === undefined || budget.person === request.person) &&
    (budget.project === undefined || budget.project === request.project) &&
    (budget.model === undefined || request.models.some((model) => matchesModel(budget.model ?? "", model)))
  );
}

/** True if a budget is for a model, however providers and routers spell it: a budget must not miss one of its requests. */
function matchesModel(pattern: string, model: string): boolean {
  const plain = pattern.trim().toLowerCase();
  const names = [model, model.trim().toLowerCase(), parseModelId(model).name];
  return names.some((name) => matchesName(pattern, name) || matchesName(plain, name));
}

/** True if a name is equal to a pattern, or begins with a pattern that ends in "*". */
export function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
