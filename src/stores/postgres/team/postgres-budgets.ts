import {
  type BudgetReservation,
  type BudgetStore,
  type BudgetUse,
  LAPSED_KEPT_MS,
  type ReservationResult,
} from "../../../log/store/budget-store.ts";
import { toBudget, toBudgetUse } from "../../../log/store/record-rows.ts";
import { checkBudgetAmounts } from "../../../log/store/refusals.ts";
import type { AuditAct } from "../../../model/audit.ts";
import { CEILING_PREFIX, type TeamBudget } from "../../../model/budget.ts";
import type { PostgresDatabase, Sql } from "../connection/postgres-database.ts";
import type { PostgresAudit } from "./postgres-audit.ts";

/** The use of a period, with the sum of its open reservations. */
const USE = "u.budget, u.start, u.spent, @reserved_amount(u.budget, u.start) AS reserved";

/** Budgets in PostgreSQL. Reservations and settlements may run twice after a lost answer. */
export class PostgresBudgets implements BudgetStore {
  readonly #db: PostgresDatabase;
  readonly #audit: PostgresAudit;

  constructor(db: PostgresDatabase, audit: PostgresAudit) {
    this.#db = db;
    this.#audit = audit;
  }

  async list(person?: string): Promise<readonly TeamBudget[]> {
    const rows =
      person === undefined
        ? await this.#db.query(`SELECT * FROM @budgets WHERE id NOT LIKE '${CEILING_PREFIX}%' ORDER BY id`)
        : await this.#db.query("SELECT * FROM @budgets WHERE person IS NULL OR person = $1 ORDER BY id", [
            person,
          ]);
    return rows.map(toBudget);
  }

  async put(budget: TeamBudget, act: AuditAct): Promise<void> {
    await this.#db.transact(async (sql) => {
      await this.#audit.record(sql, act);
      await this.write(sql, budget);
    });
  }

  remove(id: string, act: AuditAct): Promise<boolean> {
    return this.#db.transact(async (sql) => {
      const removed = await sql.query("DELETE FROM @budgets WHERE id = $1 RETURNING id", [id]);
      if (removed.length === 0) return false;
      await this.#audit.record(sql, act);
      return true;
    });
  }

  async uses(periods: readonly { budget: string; start: number }[]): Promise<readonly BudgetUse[]> {
    if (periods.length === 0) return [];
    const rows = await this.#db.query(
      `SELECT ${USE} FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS n (id, start, place)
       JOIN @budget_uses u ON u.budget = n.id AND u.start = n.start ORDER BY n.place`,
      [periods.map(({ budget }) => budget), periods.map(({ start }) => start)],
    );
    return rows.map(toBudgetUse);
  }

  async reserve(reservation: BudgetReservation, now: number): Promise<ReservationResult> {
    const { id, owner, expiresAt, shares } = reservation;
    checkBudgetAmounts(shares);
    const ceilings = shares.flatMap(({ budget }) => (budget.startsWith(CEILING_PREFIX) ? [budget] : []));
    if (ceilings.length > 0)
      await this.#db.query(
        `INSERT INTO @budgets (id, person, unit, amount, period)
         SELECT id, '${CEILING_PREFIX}', 'usd', 0, 'day' FROM unnest($1::text[]) AS n (id) ON CONFLICT DO NOTHING`,
        [ceilings],
      );
    const rows = await this.#db.query(
      `SELECT * FROM @reserve_budgets($1, $2, $3, $4, $5, $6::text[], $7::bigint[], $8::float8[], $9::float8[], $10::bigint[])`,
      [
        id,
        owner,
        expiresAt,
        now,
        now - LAPSED_KEPT_MS,
        shares.map(({ budget }) => budget),
        shares.map(({ start }) => start),
        shares.map(({ limit }) => limit),
        shares.map(({ amount }) => amount),
        shares.map(({ keepFrom }) => keepFrom),
      ],
    );
    const refused = rows
      .filter(({ is_refused: isRefused }) => isRefused)
      .map(({ budget }) => budget as string);
    return { refused, uses: rows.map(toBudgetUse) };
  }

  async settle(id: string, amounts: readonly { budget: string; amount: number }[]): Promise<void> {
    checkBudgetAmounts(amounts);
    await this.#db.query("SELECT @settle_budgets($1, $2::text[], $3::float8[])", [
      id,
      amounts.map(({ budget }) => budget),
      amounts.map(({ amount }) => amount),
    ]);
  }

  async renew(owner: string, expiresAt: number): Promise<void> {
    await this.#db.query(
      "UPDATE @budget_reservations SET expires_at = $1 WHERE owner = $2 AND NOT has_lapsed",
      [expiresAt, owner],
    );
  }

  /** Adds or replaces a budget inside a transaction of the caller. */
  async write(sql: Sql, { id, person, project, model, unit, amount, period }: TeamBudget): Promise<void> {
    await sql.query(
      `INSERT INTO @budgets (id, person, project, model, unit, amount, period) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (id) DO UPDATE SET amount = excluded.amount`,
      [id, person ?? null, project ?? null, model ?? null, unit, amount, period],
    );
  }

  /** Sets the use of a period inside a transaction of the caller. */
  async writeUse(sql: Sql, { budget, start, spent }: BudgetUse): Promise<void> {
    await sql.query(
      `INSERT INTO @budget_uses (budget, start, spent) VALUES ($1, $2, $3)
       ON CONFLICT (budget, start) DO UPDATE SET spent = excluded.spent`,
      [budget, start, spent],
    );
  }

  /** The use of all periods. */
  async allUses(): Promise<readonly BudgetUse[]> {
    const rows = await this.#db.query(
      `SELECT ${USE} FROM @budget_uses u WHERE u.budget NOT LIKE '${CEILING_PREFIX}%' ORDER BY u.budget, u.start`,
    );
    return rows.map(toBudgetUse);
  }
}
