import { type BudgetStatus, formatBudget, formatBudgetAmount } from "../../team-entry.ts";
import type { WireFault } from "../../wire/wire.ts";

/** A client that waits longer than this for a retry should tell its user instead. */
const SHORT_WAIT_SECONDS = 60;

/** The refusal of a request whose budget is used up. */
export function createBudgetFault(budget: BudgetStatus, now: number): WireFault {
  const { unit, period, spent, resetsAt } = budget;
  const owner = budget.person === undefined ? "The budget of the team" : `The budget of ${budget.person}`;
  const used = `${formatBudgetAmount(spent, unit)} used`;
  const isRate = period === "minute";
  const message = isRate
    ? `The rate limit of ${budget.person ?? "the team"} is reached: ${formatBudget(budget)}. Try again in ${getWaitSeconds(budget, now)} s.`
    : `${owner} is used up: ${formatBudget(budget)}, ${used}. ${
        resetsAt === undefined
          ? "It does not begin again; an admin can raise it"
          : `It begins again at ${new Date(resetsAt).toISOString()}; an admin can raise it`
      } (longhaul token set).`;
  return { status: 429, kind: isRate ? "rate_limit" : "budget", message, headers: buildHeaders(budget, now) };
}

function buildHeaders(budget: BudgetStatus, now: number): Readonly<Record<string, string>> {
  const { resetsAt } = budget;
  if (resetsAt === undefined) return { "x-should-retry": "false" };
  const seconds = getWaitSeconds(budget, now);
  return {
    "retry-after": String(seconds),
    "x-longhaul-budget-reset": new Date(resetsAt).toISOString(),
    // The SDKs of Anthropic and OpenAI would otherwise try again at once.
    ...(seconds > SHORT_WAIT_SECONDS && { "x-should-retry": "false" }),
  };
}

function getWaitSeconds({ resetsAt = 0 }: BudgetStatus, now: number): number {
  return Math.max(1, Math.ceil((resetsAt - now) / 1_000));
}

/** The refusal of a model without a price, which a budget in dollars cannot count. */
export function createUnpricedFault(budget: BudgetStatus, model: string): WireFault {
  return {
    status: 403,
    kind: "forbidden",
    message: `No price is known for the model ${JSON.stringify(model)}, so a budget in dollars (${formatBudget(budget)}) cannot count it; an admin can set models.*.prices in the configuration.`,
  };
}

/** The refusal of a request that the gateway cannot measure. */
export function createUnmeasuredFault(): WireFault {
  return {
    status: 403,
    kind: "forbidden",
    message:
      "This request costs money that the gateway cannot count, so it is closed to people with a budget; /v1/messages, /v1/chat/completions and /v1/responses are counted.",
  };
}

/** The warning of a budget that is nearly used up, for a header and for people. */
export function formatBudgetWarning(budget: BudgetStatus): string {
  const { spent, reserved, amount, resetsAt, person } = budget;
  const share = Math.floor(((spent + reserved) / amount) * 100);
  const end = resetsAt === undefined ? "" : `; it begins again at ${new Date(resetsAt).toISOString()}`;
  return `${share} % of the budget of ${person ?? "the team"} is used: ${formatBudget(budget)}${end}`;
}
