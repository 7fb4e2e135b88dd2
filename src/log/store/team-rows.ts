import type { BudgetPeriod, BudgetUnit, TeamBudget } from "../../model/budget.ts";
import type { Person, PersonRole, PersonToken } from "../../model/person.ts";
import type { BudgetUse } from "./budget-store.ts";

type TeamRow = Readonly<Record<string, unknown>>;

/** A person as the row of either engine holds it. */
export function toPerson({ name, role, created_at: createdAt, models, upstreams }: TeamRow): Person {
  return {
    name: name as string,
    role: role as PersonRole,
    createdAt: createdAt as number,
    ...(typeof models === "string" && { models: JSON.parse(models) }),
    ...(typeof upstreams === "string" && { upstreams: JSON.parse(upstreams) }),
  };
}

export function toPersonToken(row: TeamRow): PersonToken {
  const { digest, person, created_at: createdAt, expires_at: expiresAt, revoked_at: revokedAt } = row;
  return {
    digest: digest as string,
    person: person as string,
    createdAt: createdAt as number,
    ...(typeof expiresAt === "number" && { expiresAt }),
    ...(typeof revokedAt === "number" && { revokedAt }),
  };
}

export function toBudget({ id, person, project, model, unit, amount, period }: TeamRow): TeamBudget {
  return {
    id: id as string,
    ...(typeof person === "string" && { person }),
    ...(typeof project === "string" && { project }),
    ...(typeof model === "string" && { model }),
    unit: unit as BudgetUnit,
    amount: amount as number,
    period: period as BudgetPeriod,
  };
}

export function toBudgetUse({ budget, start, spent, reserved }: TeamRow): BudgetUse {
  return {
    budget: budget as string,
    start: start as number,
    spent: spent as number,
    reserved: reserved as number,
  };
}
