import type { BoundedMap } from "../../base/bounded-map.ts";
import type {
  BudgetAmounts,
  BudgetedRequest,
  BudgetGate,
  BudgetHold,
  BudgetStatus,
} from "../../team-entry.ts";
import type { WireFault } from "../../wire/wire.ts";
import { FaultError } from "../fault-error.ts";
import {
  createBudgetFault,
  createUnmeasuredFault,
  createUnpricedFault,
  formatBudgetWarning,
} from "./budget-fault.ts";
import type { TeamState } from "./team-state.ts";

/** People are warned when this share of a budget is used. */
const WARNING_SHARE = 0.8;
const NOTHING: BudgetAmounts = { tokens: 0, usd: 0 };

/** Services for the spending of requests. */
export interface SpendingServices {
  readonly gate: BudgetGate;
  readonly state: TeamState;
  /** Budgets and periods of which this gateway has warned. */
  readonly warned: BoundedMap<string, true>;
  readonly onError: (error: unknown) => void;
}

/** A warning about a budget; `isNew` once in its period. */
interface BudgetWarning {
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
  #actual = NOTHING;

  constructor(services: SpendingServices, person: string | undefined) {
    this.#services = services;
    this.#person = person;
  }

  /** Reserves an estimate, once; throws `FaultError` if a budget is used up or cannot be read. */
  reserve(
    request: Omit<BudgetedRequest, "person">,
    estimate: BudgetAmounts,
  ): Promise<readonly BudgetWarning[]> {
    this.#reserving ??= this.#reserve(request, estimate);
    return this.#reserving;
  }

  /**
   * Throws `FaultError` for a request whose usage the gateway does not see, if a budget may count it. Returns no promise
   * where no budget exists.
   */
  checkUnmeasured(request: Omit<BudgetedRequest, "person">): Promise<void> | undefined {
    if (this.#hold) {
      this.#actual = this.#estimate;
      return undefined;
    }
    const inUse = this.#services.state.isInUse();
    return inUse === false ? undefined : this.#checkUnmeasured(request, inUse);
  }

  async #checkUnmeasured(
    request: Omit<BudgetedRequest, "person">,
    inUse: boolean | Promise<boolean>,
  ): Promise<void> {
    if (!(await inUse)) return;
    const decision = await this.#decide(request, NOTHING);
    if (decision.type !== "held") throw toFaultError(decision, request.model);
    await decision.hold.settle(NOTHING);
    if (decision.hold.budgets.some(({ unit }) => unit !== "requests"))
      throw new FaultError(createUnmeasuredFault());
  }

  /** Reports the actual amounts; without a report nothing was spent. */
  report(actual: BudgetAmounts): void {
    this.#actual = actual;
  }

  /** The reserved estimate, for replies whose provider reports no usage. */
  get estimate(): BudgetAmounts {
    return this.#estimate;
  }

  /** Settles the budgets, once; undefined if none counts the request. Never throws. */
  end(): Promise<void> | undefined {
    if (this.#hold) this.#ended ??= this.#settle(this.#hold);
    return this.#ended;
  }

  async #settle(hold: BudgetHold): Promise<void> {
    try {
      await hold.settle(this.#actual);
    } catch (error) {
      this.#services.onError(error);
    }
  }

  async #reserve(
    request: Omit<BudgetedRequest, "person">,
    estimate: BudgetAmounts,
  ): Promise<readonly BudgetWarning[]> {
    if (!(await this.#services.state.isInUse())) return [];
    const decision = await this.#decide(request, estimate);
    if (decision.type !== "held") throw toFaultError(decision, request.model);
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

function toFaultError(
  decision: { readonly type: "refused" | "unpriced"; readonly budget: BudgetStatus },
  model: string,
): FaultError {
  const { type, budget } = decision;
  return new FaultError(
    type === "refused" ? createBudgetFault(budget, Date.now()) : createUnpricedFault(budget, model),
  );
}
