import {
  type BudgetAmounts,
  type BudgetedRequest,
  type BudgetGate,
  type BudgetHold,
  type BudgetStatus,
  formatBudget,
  formatBudgetAmount,
} from "../../../kernel/faces/people.ts";
import type { Usage } from "../../../kernel/index.ts";
import type { BoundedMap } from "../../../model/base/caches.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import type { WireFault } from "../../../wire/wire.ts";
import { createDoorError } from "../../api/jobs/index.ts";
import type { TeamState } from "./shared-states.ts";

/** People are warned when this share of a budget is used. */
const WARNING_SHARE = 0.8;
const NOTHING: SpendingEstimate = { tokens: 0, usd: 0, usage: {} };

/** The possible cost of a request, before its reply is known. */
export interface SpendingEstimate extends BudgetAmounts {
  readonly usage: Usage;
}

/** Services for the spending of requests. */
export interface SpendingServices {
  readonly gate: BudgetGate;
  readonly state: TeamState;
  /** Budgets and periods of which this gateway has warned. */
  readonly warned: BoundedMap<string, true>;
  /** Upstreams that refuse to report the usage of a stream. */
  readonly withoutUsage: BoundedMap<string, true>;
  readonly onError: (error: unknown) => void;
}

/** A warning about a budget; `isNew` once in its period. */
export interface BudgetWarning {
  readonly text: string;
  readonly isNew: boolean;
}

/** The spending of one request in the budgets that count it, from the estimate to the actual amounts. */
export class RequestSpending {
  readonly #services: SpendingServices;
  readonly #person: string | undefined;
  #reserving: Promise<readonly BudgetWarning[]> | undefined;
  #hold: BudgetHold | undefined;
  #ended: Promise<void> | undefined;
  #estimate = NOTHING;
  #project: string | undefined;
  #actual: BudgetAmounts = NOTHING;
  #rest: Promise<void> | undefined;

  constructor(services: SpendingServices, person: string | undefined) {
    this.#services = services;
    this.#person = person;
  }

  /**
   * Reserves an estimate, once; throws `FaultError` if a budget is used up or cannot be read. Reserves again if the project
   * has turned out to be another one, which other budgets count.
   */
  async reserve(
    request: Omit<BudgetedRequest, "person">,
    estimate: SpendingEstimate,
  ): Promise<readonly BudgetWarning[]> {
    const isOther = this.#hold?.dependsOnProject && request.project !== this.#project;
    if (isOther) await this.release();
    this.#project = request.project;
    this.#reserving ??= this.#reserve(request, estimate);
    return this.#reserving;
  }

  /** Drops the reservation of a request that is not sent. */
  async release(): Promise<void> {
    const hold = this.#hold;
    this.#hold = undefined;
    this.#reserving = undefined;
    await hold?.release();
  }

  /** Throws `FaultError` for a request whose usage the gateway does not see, if a budget may count it. */
  async checkUnmeasured(request: Omit<BudgetedRequest, "person">): Promise<void> {
    if (this.#hold) {
      this.#actual = this.#estimate;
      return;
    }
    const decision = await this.#decide(request, NOTHING);
    if (decision.type !== "held") throw toFaultError(decision, request.models[0]);
    await decision.hold.settle(NOTHING);
    if (decision.hold.budgets.some(({ unit }) => unit !== "requests"))
      throw new FaultError(createUnmeasuredFault());
  }

  /** Reports the actual amounts; without a report nothing was spent. */
  report(actual: BudgetAmounts): void {
    this.#actual = actual;
  }

  /** The project that budgets count the request for. */
  get project(): string | undefined {
    return this.#project;
  }

  /** The reserved estimate, for replies whose provider reports no usage. */
  get estimate(): SpendingEstimate {
    return this.#estimate;
  }

  /** True if a budget counts the tokens or the money of the request. */
  get isMeasured(): boolean {
    return this.#hold?.budgets.some(({ unit }) => unit !== "requests") ?? false;
  }

  /** True while the rest of a reply is read for its usage, because its client has left. */
  get isReadingOn(): boolean {
    return this.#rest !== undefined;
  }

  /** Settles only after `rest`, which reports the actual amounts. */
  waitFor(rest: Promise<void>): void {
    this.#rest = rest.catch(this.#services.onError);
  }

  /** Settles the budgets, once. Never throws. */
  async end(): Promise<void> {
    if (this.#hold) this.#ended ??= this.#settle(this.#hold);
    await this.#ended;
  }

  async #settle(hold: BudgetHold): Promise<void> {
    try {
      await this.#rest;
      await hold.settle(this.#actual);
    } catch (error) {
      this.#services.onError(error);
    }
  }

  async #reserve(
    request: Omit<BudgetedRequest, "person">,
    estimate: SpendingEstimate,
  ): Promise<readonly BudgetWarning[]> {
    const decision = await this.#decide(request, estimate);
    if (decision.type !== "held") throw toFaultError(decision, request.models[0]);
    this.#hold = decision.hold;
    this.#estimate = estimate;
    const high = decision.hold.budgets.filter(
      ({ period, spent, reserved, amount }) =>
        period !== "minute" && spent + reserved >= amount * WARNING_SHARE,
    );
    return high.map((budget) => ({ text: formatBudgetWarning(budget), isNew: this.#isNewWarning(budget) }));
  }

  #isNewWarning({ id, resetsAt = 0, amount }: BudgetStatus): boolean {
    const { warned } = this.#services;
    const key = `${id} ${resetsAt} ${amount}`;
    if (warned.get(key)) return false;
    warned.set(key, true);
    return true;
  }

  async #decide(request: Omit<BudgetedRequest, "person">, estimate: BudgetAmounts) {
    try {
      return await this.#services.gate.reserve({ ...request, person: this.#person }, estimate);
    } catch (error) {
      this.#services.onError(error);
      const fault: WireFault = {
        status: 503,
        kind: "unavailable",
        message: "The gateway cannot read its budgets at the moment; try again.",
      };
      throw new FaultError(fault, error);
    }
  }
}

/** Counts a request to the gateway's own API, which no provider is paid for, in budgets of requests. */
export async function chargeApiRequest(services: SpendingServices, person: string): Promise<void> {
  if (!(await services.state.isInUse())) return;
  const spending = new RequestSpending(services, person);
  try {
    await spending.reserve({ project: undefined, models: [] }, NOTHING);
  } catch (error) {
    const { fault } = error as FaultError;
    throw fault ? createDoorError(fault.status, fault.message, fault.headers) : error;
  }
  await spending.end();
}

function toFaultError(
  decision: { readonly type: "refused" | "unpriced"; readonly budget: BudgetStatus },
  model = "",
): FaultError {
  const { type, budget } = decision;
  return new FaultError(
    type === "refused" ? createBudgetFault(budget, Date.now()) : createUnpricedFault(budget, model),
  );
}

/** A client that waits longer than this for a retry should tell its user instead. */
const SHORT_WAIT_SECONDS = 60;

/** The refusal of a request whose budget is used up. */
function createBudgetFault(budget: BudgetStatus, now: number): WireFault {
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
function createUnpricedFault(budget: BudgetStatus, model: string): WireFault {
  return {
    status: 403,
    kind: "forbidden",
    message: `No price is known for the model ${JSON.stringify(model)}, so a budget in dollars (${formatBudget(budget)}) cannot count it; an admin can set models.*.prices in the configuration.`,
  };
}

/** The refusal of a request that the gateway cannot measure. */
function createUnmeasuredFault(): WireFault {
  return {
    status: 403,
    kind: "forbidden",
    message:
      "This request costs money that the gateway cannot count, so it is closed to people with a budget; /v1/messages, /v1/chat/completions and /v1/responses are counted.",
  };
}

/** The warning of a budget that is nearly used up, for a header and for people. */
function formatBudgetWarning(budget: BudgetStatus): string {
  const { spent, reserved, amount, resetsAt, person } = budget;
  const share = Math.floor(((spent + reserved) / amount) * 100);
  const end = resetsAt === undefined ? "" : `; it begins again at ${new Date(resetsAt).toISOString()}`;
  return `${share} % of the budget of ${person ?? "the team"} is used: ${formatBudget(budget)}${end}`;
}
