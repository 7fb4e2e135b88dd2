import {
  type BudgetStatus,
  formatBudget,
  formatBudgetAmount,
  type Person,
  type PersonToken,
} from "../../team-entry.ts";
import type { Paint } from "../paint.ts";
import { type Column, renderTable } from "../table.ts";

/** A person with tokens and budgets. */
export interface ListedPerson {
  readonly person: Person;
  readonly tokens: readonly PersonToken[];
  readonly budgets: readonly BudgetStatus[];
}

const COLUMNS: readonly Column[] = [
  { title: "name" },
  { title: "role", look: "cyan" },
  { title: "token" },
  { title: "budgets", shrinks: "first" },
  { title: "models" },
];

/** The people of a store as a table. */
export function renderPeople(
  people: readonly ListedPerson[],
  view: { readonly width: number; readonly paint: Paint; readonly now: number },
): readonly string[] {
  const rows = people.map(({ person, tokens, budgets }) => [
    person.name,
    person.role,
    describeTokens(tokens, view.now),
    budgets.map(describeBudget).join(", ") || "–",
    person.models?.join(", ") ?? "all",
  ]);
  return renderTable(COLUMNS, rows, view);
}

/** The state of the newest token, and of others that are still valid. */
function describeTokens(tokens: readonly PersonToken[], now: number): string {
  const valid = tokens.filter((token) => isValid(token, now));
  const newest = valid.at(-1);
  if (!newest)
    return tokens.length === 0 ? "none" : tokens.at(-1)?.revokedAt === undefined ? "expired" : "revoked";
  const end = newest.expiresAt === undefined ? "valid" : `until ${formatDay(newest.expiresAt)}`;
  const former = valid.slice(0, -1).map(({ expiresAt }) => expiresAt ?? 0);
  return former.length === 0 ? end : `${end}, former until ${formatDay(Math.max(...former))}`;
}

function isValid({ expiresAt = Number.POSITIVE_INFINITY, revokedAt }: PersonToken, now: number): boolean {
  return revokedAt === undefined && expiresAt > now;
}

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** A budget with its share in use, as in "$12.50 of $50 per month (25 %)". */
export function describeBudget(budget: BudgetStatus): string {
  const { spent, reserved, amount, unit } = budget;
  const share = amount > 0 ? Math.round(((spent + reserved) / amount) * 100) : 100;
  return `${formatBudgetAmount(spent + reserved, unit)} of ${formatBudget(budget)} (${share} %)`;
}
