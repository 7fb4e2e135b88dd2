import type { AuditEntry } from "../../model/audit.ts";
import type { AuditStore } from "./audit-store.ts";
import type { BudgetStore, BudgetUse } from "./budget-store.ts";
import type { PeopleStore } from "./people-store.ts";
import type { MovedTeam } from "./transfer-store.ts";

const PAGE = 1_000;

/** The stores of a team, with the counts of all periods. */
interface TeamStores {
  readonly people: PeopleStore;
  readonly budgets: BudgetStore & { allUses(): Promise<readonly BudgetUse[]> };
  readonly audit: AuditStore;
}

/** Reads a team for a move; reservations stay with the gateways that hold them. */
export async function readTeam(
  { people, budgets, audit }: TeamStores,
  afterAudit: number,
): Promise<MovedTeam> {
  const list = await people.list();
  const tokens = await Promise.all(list.map(({ name }) => people.tokens(name)));
  const uses = await budgets.allUses();
  return {
    people: list,
    tokens: tokens.flat(),
    budgets: await budgets.list(),
    uses: uses.map((use) => ({ ...use, reserved: 0 })),
    audit: await readAudit(audit, afterAudit),
  };
}

async function readAudit(audit: AuditStore, afterAudit: number): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (let after = afterAudit; ; ) {
    const page = await audit.list({ after, limit: PAGE });
    entries.push(...page);
    if (page.length < PAGE) return entries;
    after = page.at(-1)?.seq ?? after;
  }
}
