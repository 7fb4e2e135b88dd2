import type { Kernel } from "../../index.ts";
import type { BudgetStatus, Person } from "../../team-entry.ts";

const ID_DIGITS = 12;

/** A person with tokens and own budgets, in the form of the API. */
export async function describePerson({ team }: Kernel, person: Person) {
  const now = Date.now();
  const tokens = await team.tokens(person.name);
  const budgets = (await team.budgets(person.name)).filter((budget) => budget.person === person.name);
  return {
    ...person,
    models: person.models ?? null,
    upstreams: person.upstreams ?? null,
    tokens: tokens.map(({ digest, createdAt, expiresAt, revokedAt }) => ({
      id: digest.slice(0, ID_DIGITS),
      createdAt,
      expiresAt: expiresAt ?? null,
      revokedAt: revokedAt ?? null,
      isValid: revokedAt === undefined && (expiresAt === undefined || expiresAt > now),
    })),
    budgets: budgets.map(describeBudgetStatus),
  };
}

/** A budget in the form of the API. */
export function describeBudgetStatus(budget: BudgetStatus) {
  const { person = null, project = null, model = null, resetsAt = null } = budget;
  return { ...budget, person, project, model, resetsAt };
}
