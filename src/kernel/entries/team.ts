/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export {
  type AuditEntry,
  type BudgetStatus,
  formatBudget,
  formatBudgetAmount,
  type Person,
  parseBudget,
  type Team,
  type TeamBudget,
} from "../faces/people.ts";
