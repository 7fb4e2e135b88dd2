import { randomUUID } from "node:crypto";
import type { BudgetStore, BudgetUse } from "../../log/store/budget-store.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type BudgetScope, CEILING_PREFIX, type TeamBudget } from "../../model/budget.ts";
import type { Clock } from "../../model/clock.ts";
import { parseModelId } from "../../model/model-id.ts";
import { findPeriodEnd, getKeptFrom, getPeriodStart } from "./budget-period.ts";

/** Tokens and dollars of a request; dollars are undefined if the model has no known price. */
export interface BudgetAmounts {
  readonly tokens: number;
  readonly usd: number | undefined;
}

/** The decision about a request. */
type BudgetDecision =
  | { readonly type: "held"; readonly hold: BudgetHold }
  /** `budget` is the refusing one that begins again last. */
  | { readonly type: "refused"; readonly budget: BudgetStatus }
  /** A budget in dollars cannot count a model without a price. */
  | { readonly type: "unpriced"; readonly budget: BudgetStatus };

/** A request in flight whose estimate is reserved. */
export interface BudgetHold {
  /** Budgets of the request, with their use including it. */
  readonly budgets: readonly BudgetStatus[];
  /** True if another project would be counted in other budgets. */
  readonly dependsOnProject: boolean;
  /** Drops the estimate of a request that is not sent. May be called twice, and before or after `settle`. */
  release(): Promise<void>;
  /** Replaces the estimate by the actual amounts. Idempotent. */
  settle(actual: BudgetAmounts): Promise<void>;
}

/** The most that the gateway itself may spend in a day for a purpose, over all gateways of a store. */
export interface SpendingCeiling {
  readonly purpose: string;
  readonly usd: number;
}

/** A ceiling as a budget that an estimate must fit in whole: budgets of people may be passed by the last request. */
function toCeilingBudget({ purpose, usd }: SpendingCeiling, estimate: number): TeamBudget {
  const amount = Math.max(0, usd - estimate + Number.EPSILON);
  return {
    id: `${CEILING_PREFIX}${purpose}`,
    unit: "usd",
    period: "day",
    amount: estimate > usd ? 0 : amount,
  };
}

/** A reservation lapses this long after its gateway has last renewed it. */
const LIFE_MS = 120_000;
const RENEW_MS = 30_000;
/** Failed settlements that are tried again. */
const MAX_UNSETTLED = 10_000;

/** Holds the budgets of one gateway's requests. Reservations are renewed while requests are in flight. */
export class BudgetGate implements AsyncDisposable {
  readonly #budgets: BudgetStore;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #owner = randomUUID();
  readonly #open = new Set<string>();
  /** Amounts that the store did not take: they are tried again, because a renewal keeps the estimates reserved. */
  readonly #unsettled = new Map<string, Parameters<BudgetStore["settle"]>[1]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(budgets: BudgetStore, clock: Clock, onError: (error: unknown) => void) {
    this.#budgets = budgets;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Reserves the estimate of a request in all budgets that count it and below a ceiling, or in none. */
  async reserve(
    request: BudgetedRequest,
    estimate: BudgetAmounts,
    ceiling?: SpendingCeiling,
  ): Promise<BudgetDecision> {
    const listed = await this.#budgets.list(request.person ?? "");
    const matching = listed.filter((budget) => matchesBudget(budget, request));
    if (ceiling) matching.push(toCeilingBudget(ceiling, estimate.usd ?? 0));
    const now = this.#clock.now();
    const unpriced = estimate.usd === undefined ? matching.find(({ unit }) => unit === "usd") : undefined;
    if (unpriced) return { type: "unpriced", budget: toBudgetStatus(unpriced, undefined, now) };
    const dependsOnProject = listed.some(({ project }) => project !== undefined);
    const isOver = async () => undefined;
    if (matching.length === 0)
      return { type: "held", hold: { budgets: [], dependsOnProject, release: isOver, settle: isOver } };
    const id = randomUUID();
    const shares = matching.map((budget) => ({
      budget: budget.id,
      start: getPeriodStart(budget.period, now),
      limit: budget.amount,
      amount: getAmount(budget, estimate),
      keepFrom: getKeptFrom(budget.period, now),
    }));
    const reservation = { id, owner: this.#owner, expiresAt: now + LIFE_MS, shares };
    const { refused, uses } = await this.#budgets.reserve(reservation, now);
    const states = matching.map((budget) => {
      const use = uses.find((one) => one.budget === budget.id);
      return toBudgetStatus(budget, use, now);
    });
    if (refused.length === 0)
      return { type: "held", hold: { ...this.#createHold(id, states), dependsOnProject } };
    const full = states.filter((state) => refused.includes(state.id));
    const [budget = full[0] as BudgetStatus] = full.toSorted((one, other) => endOf(other) - endOf(one));
    return { type: "refused", budget };
  }

  /** Stops renewing. Idempotent. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#open.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #createHold(id: string, budgets: readonly BudgetStatus[]): Omit<BudgetHold, "dependsOnProject"> {
    this.#open.add(id);
    this.#timer ??= setInterval(() => void this.#renew(), RENEW_MS).unref();
    let settled: Promise<void> | undefined;
    return {
      budgets,
      release: () => {
        settled ??= this.#settle(id, []);
        return settled;
      },
      settle: (actual) => {
        const amounts = budgets.map((budget) => ({ budget: budget.id, amount: getAmount(budget, actual) }));
        settled ??= this.#settle(id, amounts);
        return settled;
      },
    };
  }

  async #settle(id: string, amounts: Parameters<BudgetStore["settle"]>[1]): Promise<void> {
    try {
      await this.#budgets.settle(id, amounts);
      this.#unsettled.delete(id);
    } catch (error) {
      if (this.#unsettled.size < MAX_UNSETTLED) this.#unsettled.set(id, amounts);
      throw error;
    } finally {
      if (!this.#unsettled.has(id)) this.#open.delete(id);
      if (this.#open.size === 0) this.close();
    }
  }

  async #renew(): Promise<void> {
    for (const [id, amounts] of this.#unsettled) await this.#settle(id, amounts).catch(this.#onError);
    try {
      await this.#budgets.renew(this.#owner, this.#clock.now() + LIFE_MS);
    } catch (error) {
      this.#onError(error);
    }
  }
}

function getAmount({ unit }: TeamBudget, { tokens, usd = 0 }: BudgetAmounts): number {
  return unit === "usd" ? usd : unit === "tokens" ? tokens : 1;
}

function endOf({ resetsAt }: BudgetStatus): number {
  return resetsAt ?? Number.POSITIVE_INFINITY;
}

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
  return { ...budget, spent, reserved, ...dropUndefined({ resetsAt }) };
}

/** The facts about a request that decide which budgets count it. */
export interface BudgetedRequest {
  /** Undefined for the person of a gateway without tokens. */
  readonly person: string | undefined;
  readonly project: string | undefined;
  /** The model that is asked for, then every other one that may answer instead. */
  readonly models: readonly string[];
}

/** True if a budget counts a request. */
function matchesBudget(budget: BudgetScope, request: BudgetedRequest): boolean {
  return (
    (budget.person === undefined || budget.person === request.person) &&
    (budget.project === undefined || toPlainName(budget.project) === toPlainName(request.project ?? "")) &&
    (budget.model === undefined || request.models.some((model) => matchesModel(budget.model ?? "", model)))
  );
}

/** The name of a project however its folder is spelled: systems differ in case and in the form of accented letters. */
function toPlainName(project: string): string {
  return project.normalize("NFC").toLowerCase();
}

/** Names of Amazon that stand for a model and do not say which. */
const OPAQUE_NAME =
  /^arn:[\w-]+:(?:bedrock|sagemaker):.*[:/](?:application-inference-profile|provisioned-model|custom-model|custom-model-deployment|imported-model|(?:default-)?prompt-router|endpoint|prompt)\//i;

/** A name as it is spelled outside of a path. */
function decodeName(model: string): string {
  try {
    return decodeURIComponent(model);
  } catch {
    return model;
  }
}

/** True if a budget is for a model, however providers and routers spell it: a budget must not miss one of its requests. */
function matchesModel(pattern: string, model: string): boolean {
  const plain = pattern.trim().toLowerCase();
  const decoded = decodeName(model);
  // Nobody can tell from such a name which model answers.
  if (OPAQUE_NAME.test(decoded)) return true;
  const names = [model, decoded, decoded.trim().toLowerCase(), parseModelId(decoded).name];
  return names.some((name) => matchesName(pattern, name) || matchesName(plain, name));
}

/** True if a name is equal to a pattern, or begins with a pattern that ends in "*". */
export function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
