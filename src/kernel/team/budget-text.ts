import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { BUDGET_PERIODS, type BudgetPeriod, type BudgetRule, type BudgetUnit } from "../../model/budget.ts";
import { createArgumentError } from "../../model/errors.ts";

const FORM = /^\$?(\d+(?:\.\d+)?)([kmb]?) ?(usd|dollars?|tokens?|requests?)?\/([a-z]+)$/i;
const FACTORS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, b: 1e9 };
const EXPECTED =
  'an amount per minute, day, week, month or total, as "50/month", "2m tokens/day:model=claude-opus-*" or "100/month:project=shop"';

/** Parses a budget as people write it: dollars without a unit, and its project and model after colons. */
export function parseBudget(text: string): BudgetRule {
  checkKind("budget", text, "text");
  const [amount = "", ...scopes] = text.split(/:(?=(?:project|model)=)/);
  const [, digits = "", factor = "", unit = "usd", period = ""] = FORM.exec(amount.trim()) ?? [];
  const value = Number(digits) * (FACTORS[factor.toLowerCase()] ?? 1);
  if (!isPeriod(period) || digits === "" || value === Number.POSITIVE_INFINITY)
    throw createArgumentError("budget", text, EXPECTED);
  const scope: { project?: string; model?: string } = {};
  for (const one of scopes) {
    const at = one.indexOf("=");
    const [key, name] = [one.slice(0, at) as "project" | "model", one.slice(at + 1)];
    if (name === "" || scope[key] !== undefined) throw createArgumentError("budget", text, EXPECTED);
    scope[key] = name;
  }
  return { ...scope, amount: value, unit: toUnit(unit), period };
}

function isPeriod(text: string): text is BudgetPeriod {
  return (BUDGET_PERIODS as readonly string[]).includes(text);
}

function toUnit(text: string): BudgetUnit {
  const word = text.toLowerCase();
  if (word.startsWith("token")) return "tokens";
  return word.startsWith("request") ? "requests" : "usd";
}

/** A budget for people, as in "$50 per month for the project shop". */
export function formatBudget(budget: BudgetRule): string {
  checkFields("budget", budget, { amount: "number", unit: "text", period: "text" });
  const { amount, unit, period, project, model } = budget;
  const words = [
    unit === "usd" ? formatBudgetAmount(amount, unit) : `${formatBudgetAmount(amount, unit)} ${unit}`,
    period === "total" ? "in total" : `per ${period}`,
    project === undefined ? "" : `for the project ${project}`,
    model === undefined ? "" : `for the model ${model}`,
  ];
  return words.filter((word) => word !== "").join(" ");
}

/** An amount without its period. */
export function formatBudgetAmount(amount: number, unit: BudgetUnit): string {
  if (unit !== "usd") return Math.round(amount).toLocaleString("en-US");
  const isWhole = Number.isInteger(amount);
  return `$${amount.toLocaleString("en-US", isWhole ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;
}
