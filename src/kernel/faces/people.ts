/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { AuditEntry } from "../../model/audit.ts";
export { BUDGET_PERIODS, BUDGET_UNITS, type BudgetRule, type TeamBudget } from "../../model/budget.ts";
export {
  PERSON_ROLES,
  type Person,
  type PersonRole,
  type PersonToken,
  type ProviderSignIn,
} from "../../model/person.ts";
export type {
  BudgetAmounts,
  BudgetGate,
  BudgetHold,
  BudgetStatus,
  SpendingCeiling,
} from "../team/budget-gate.ts";
export { type BudgetedRequest, matchesName } from "../team/budget-gate.ts";
export { formatBudget, formatBudgetAmount, parseBudget } from "../team/budget-text.ts";
export type { PersonSettings, Team, TokenOwner } from "../team/team.ts";
export { isPersonSecret } from "../team/team.ts";
