import { dropUndefined } from "../model/base/drop-undefined.ts";
import { checkNames } from "../model/edit-distance.ts";
import { checkWholeNumber, createArgumentError } from "../model/errors.ts";
import { countUsageTokens, type TaskBudget, type TaskUsage } from "../model/task.ts";
import { checkUsage, type Usage } from "../model/usage.ts";
import { computeReportCost } from "../window/models/model-catalog.ts";
import type { ModelFacts } from "../window/models/model-data.ts";
import type { AgentEvent } from "./agent.ts";

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

/** Finds the prices of a model. */
export type PriceLookup = (model: string) => ModelFacts | undefined;

/** A usage event with its model and its cost, as far as they are known. */
export function priceUsageEvent(
  event: Extract<AgentEvent, { type: "usage" }>,
  agentModel: string | undefined,
  factsOf: PriceLookup,
): Extract<AgentEvent, { type: "usage" }> {
  const model = event.model ?? agentModel;
  const usage = checkUsage(event.usage, "event.usage");
  const cost = computeReportCost({ usage, ...dropUndefined({ model }) }, factsOf);
  return { ...event, ...dropUndefined({ model }), usage: cost === undefined ? usage : { ...usage, cost } };
}

/** Throws ARGUMENT_INVALID for a budget in dollars that could not count the tokens of the agent's model. */
export function checkBudgetPrice(
  budget: TaskBudget | undefined,
  model: string | undefined,
  factsOf: PriceLookup,
): void {
  const { dollars } = budget ?? {};
  if (dollars === undefined || model === undefined) return;
  const facts = factsOf(model);
  if (facts && !facts.arePricesAssumed) return;
  throw createArgumentError("budget.dollars", dollars, describeMissingPrice(model));
}

/** Says why a budget in dollars cannot count a usage event; undefined if it can. */
export function describeUncounted(
  { model, usage }: Extract<AgentEvent, { type: "usage" }>,
  budget: TaskBudget | undefined,
): string | undefined {
  const { dollars } = budget ?? {};
  if (dollars === undefined || usage.cost !== undefined || countUsageTokens(usage) === 0) return undefined;
  const reason =
    model === undefined ? "a usage event that names its model or its cost" : describeMissingPrice(model);
  return `A budget of $${dollars} needs ${reason}.`;
}

function describeMissingPrice(model: string): string {
  return `the price of ${JSON.stringify(model)}, which is not known: set models[${JSON.stringify(model)}].prices of the kernel, or a budget in tokens`;
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
  checkNames("budget", budget, ["tokens", "dollars", "steps"]);
  if (budget.tokens !== undefined) checkWholeNumber("budget.tokens", budget.tokens, 0);
  if (budget.steps !== undefined) checkWholeNumber("budget.steps", budget.steps, 0);
  const { dollars } = budget;
  if (dollars !== undefined && !(dollars >= 0))
    throw createArgumentError("budget.dollars", dollars, "a number of at least 0");
  return budget;
}
