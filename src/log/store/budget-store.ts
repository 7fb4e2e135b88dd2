import type { AuditAct } from "../../model/audit.ts";
import type { TeamBudget } from "../../model/budget.ts";

/** The use of a budget in one period. */
export interface BudgetUse {
  readonly budget: string;
  /** Begin of the period. */
  readonly start: number;
  readonly spent: number;
  /** The sum of the estimates of requests in flight. */
  readonly reserved: number;
}

/** The part of a reservation that counts in one budget. */
export interface BudgetShare {
  readonly budget: string;
  /** Begin of the current period. */
  readonly start: number;
  /** Refused if this much is spent and reserved already. */
  readonly limit: number;
  /** The estimate. */
  readonly amount: number;
  /** Counts of periods that began earlier are dropped. */
  readonly keepFrom: number;
}

/** An estimate that is held while a request is in flight. */
export interface BudgetReservation {
  readonly id: string;
  /** The gateway; it renews all of its reservations together. */
  readonly owner: string;
  readonly expiresAt: number;
  readonly shares: readonly BudgetShare[];
}

/** The result of a reservation. */
export interface ReservationResult {
  /** The budgets that are used up; with any of them nothing was reserved. */
  readonly refused: readonly string[];
  /** The use of all budgets of the reservation, with it. */
  readonly uses: readonly BudgetUse[];
}

/** Budgets, and their use across all gateways of a store. */
export interface BudgetStore {
  /** The budgets of a person and those of everybody; without a name all budgets. */
  list(person?: string): Promise<readonly TeamBudget[]>;
  /** Adds a budget, or replaces the one with its id; the count of the period stays. */
  put(budget: TeamBudget, act: AuditAct): Promise<void>;
  /** Removes a budget with its counts; false if there is none. */
  remove(id: string, act: AuditAct): Promise<boolean>;
  /** The use of budgets in the given periods; a period without use is left out. */
  uses(
    periods: readonly { readonly budget: string; readonly start: number }[],
  ): Promise<readonly BudgetUse[]>;
  /** Reserves all shares or none, atomically; makes a ceiling that does not exist; refuses amounts that are not finite and at least 0, as `settle` does. Reservations that expired before `now` count as spent. */
  reserve(reservation: BudgetReservation, now: number): Promise<ReservationResult>;
  /** Replaces a reservation by the actual amounts, an expired one too; does nothing if it was settled already. */
  settle(id: string, amounts: readonly { readonly budget: string; readonly amount: number }[]): Promise<void>;
  /** Prolongs all reservations of an owner. */
  renew(owner: string, expiresAt: number): Promise<void>;
}

/** A request may settle this long after its reservation lapsed. */
export const LAPSED_KEPT_MS = 86_400_000;
