import { invalidArgument, wholeNumber } from "../model/errors.ts";
import { type TaskBudget, type TaskSpent, tokensOfUsage } from "../model/task.ts";
import type { Usage } from "../model/usage.ts";

/** The usage of a new task. */
export const NOTHING_SPENT: TaskSpent = { tokens: 0, dollars: 0, steps: 0 };

/** Adds the tokens and cost of a usage report. */
export function spendUsage(spent: TaskSpent, usage: Usage): TaskSpent {
  return {
    ...spent,
    tokens: spent.tokens + tokensOfUsage(usage),
    dollars: spent.dollars + (usage.cost ?? 0),
  };
}

/** Adds one step. */
export function spendStep(spent: TaskSpent): TaskSpent {
  return { ...spent, steps: spent.steps + 1 };
}

/** Describes the first exceeded limit of a budget; undefined while all limits hold. */
export function overBudget(spent: TaskSpent, budget: TaskBudget | undefined): string | undefined {
  if (!budget) return undefined;
  const { tokens, dollars, steps } = budget;
  if (tokens !== undefined && spent.tokens > tokens) return `${spent.tokens} tokens of ${tokens}`;
  if (dollars !== undefined && spent.dollars > dollars) return `$${spent.dollars.toFixed(4)} of $${dollars}`;
  if (steps !== undefined && spent.steps > steps) return `${spent.steps} steps of ${steps}`;
  return undefined;
}

/** Returns the budget if it is valid, else throws ARGUMENT_INVALID. */
export function checkBudget(budget: TaskBudget): TaskBudget {
  if (budget.tokens !== undefined) wholeNumber("budget.tokens", budget.tokens, 0);
  if (budget.steps !== undefined) wholeNumber("budget.steps", budget.steps, 0);
  const { dollars } = budget;
  if (dollars !== undefined && !(dollars >= 0))
    throw invalidArgument("budget.dollars", dollars, "a number of at least 0");
  return budget;
}
