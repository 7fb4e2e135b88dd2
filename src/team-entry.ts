/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { AuditAct, AuditEntry } from "./model/audit.ts";
export {
  BUDGET_PERIODS,
  BUDGET_UNITS,
  type BudgetPeriod,
  type BudgetRule,
  type BudgetScope,
  type BudgetUnit,
  type TeamBudget,
} from "./model/budget.ts";
export { PERSON_ROLES, type Person, type PersonRole, type PersonToken } from "./model/person.ts";
export type { RemovedPerson } from "./store/people-store.ts";
export type { BudgetAmounts, BudgetDecision, BudgetGate, BudgetHold } from "./team/budget-gate.ts";
export type { BudgetStatus } from "./team/budget-status.ts";
export { formatBudget, formatBudgetAmount, parseBudget } from "./team/budget-text.ts";
export { type BudgetedRequest, matchesName } from "./team/match-budget.ts";
export type { PersonSettings, Team, TokenOwner } from "./team/team.ts";
export { isPersonSecret } from "./team/token-secret.ts";
