import { checkWholeNumber, createArgumentError } from "../model/errors.ts";
import { countUsageTokens, type TaskBudget, type TaskUsage } from "../model/task.ts";
import type { Usage } from "../model/usage.ts";

/** The usage of a new task. */
export const NO_TASK_USAGE: TaskUsage = { tokens: 0, dollars: 0, steps: 0 };

/** Adds the tokens and cost of a usage report. */
export function spendUsage(spent: TaskUsage, usage: Usage): TaskUsage {
  return {
    ...spent,
    tokens: spent.tokens + countUsageTokens(usage),
    dollars: spent.dollars + (usage.cost ?? 0),
  };
}

/** Adds one step. */
export function spendStep(spent: TaskUsage): TaskUsage {
  return { ...spent, steps: spent.steps + 1 };
}

/** Describes the first exceeded limit of a budget; undefined while all limits hold. */
export function describeOverrun(spent: TaskUsage, budget: TaskBudget | undefined): string | undefined {
  if (!budget) return undefined;
  const { tokens, dollars, steps } = budget;
  if (tokens !== undefined && spent.tokens > tokens) return `${spent.tokens} tokens of ${tokens}`;
  if (dollars !== undefined && spent.dollars > dollars) return `$${spent.dollars.toFixed(4)} of $${dollars}`;
  if (steps !== undefined && spent.steps > steps) return `${spent.steps} steps of ${steps}`;
  return undefined;
}

/** Returns the budget if it is valid, else throws ARGUMENT_INVALID. */
export function checkBudget(budget: TaskBudget): TaskBudget {
  if (budget.tokens !== undefined) checkWholeNumber("budget.tokens", budget.tokens, 0);
  if (budget.steps !== undefined) checkWholeNumber("budget.steps", budget.steps, 0);
  const { dollars } = budget;
  if (dollars !== undefined && !(dollars >= 0))
    throw createArgumentError("budget.dollars", dollars, "a number of at least 0");
  return budget;
}
