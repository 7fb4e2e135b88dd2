import {
  type BudgetReservation,
  type BudgetShare,
  type BudgetStore,
  type BudgetUse,
  LAPSED_KEPT_MS,
  type ReservationResult,
} from "../../../log/store/budget-store.ts";
import { toBudget, toBudgetUse } from "../../../log/store/record-rows.ts";
import { checkBudgetAmounts } from "../../../log/store/refusals.ts";
import type { AuditAct } from "../../../model/audit.ts";
import { CEILING_PREFIX, type TeamBudget } from "../../../model/budget.ts";
import type { Database } from "../database.ts";
import type { SqliteAudit } from "./sqlite-audit.ts";

/** The use of a period, with the sum of its open reservations. */
const USE = `SELECT budget, start, spent, (SELECT coalesce(sum(amount), 0) FROM budget_reservations r
    WHERE r.budget = u.budget AND r.start = u.start AND has_lapsed = 0) AS reserved FROM budget_uses u`;

/** Budgets in SQLite. */
export class SqliteBudgets implements BudgetStore {
  readonly #db: Database;
  readonly #audit: SqliteAudit;
  readonly #statements;

  constructor(db: Database, audit: SqliteAudit) {
    this.#db = db;
    this.#audit = audit;
    this.#statements = {
      all: db.prepare(`SELECT * FROM budgets WHERE id NOT LIKE '${CEILING_PREFIX}%' ORDER BY id`),
      list: db.prepare("SELECT * FROM budgets WHERE person IS NULL OR person = ? ORDER BY id"),
      exists: db.prepare("SELECT 1 FROM budgets WHERE id = ?"),
      put: db.prepare(
        `INSERT INTO budgets (id, person, project, model, unit, amount, period) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET amount = excluded.amount`,
      ),
      putCeiling: db.prepare(
        `INSERT INTO budgets (id, person, unit, amount, period) VALUES (?, '${CEILING_PREFIX}', 'usd', 0, 'day')
         ON CONFLICT DO NOTHING`,
      ),
      remove: db.prepare("DELETE FROM budgets WHERE id = ?"),
      use: db.prepare(`${USE} WHERE budget = ? AND start = ?`),
      allUses: db.prepare(`${USE} WHERE budget NOT LIKE '${CEILING_PREFIX}%' ORDER BY budget, start`),
      putUse: db.prepare(
        "INSERT INTO budget_uses (budget, start, spent) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET spent = excluded.spent",
      ),
      dropUses: db.prepare("DELETE FROM budget_uses WHERE budget = ? AND start < ?"),
      isReserved: db.prepare("SELECT 1 FROM budget_reservations WHERE id = ? LIMIT 1"),
      expired: db.prepare(
        "SELECT id, budget, start, amount FROM budget_reservations WHERE expires_at < ? AND has_lapsed = 0",
      ),
      lapse: db.prepare("UPDATE budget_reservations SET has_lapsed = 1 WHERE id = ? AND budget = ?"),
      dropLapsed: db.prepare("DELETE FROM budget_reservations WHERE expires_at < ? AND has_lapsed = 1"),
      reserve: db.prepare(
        "INSERT INTO budget_reservations (id, budget, start, amount, owner, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
      ),
      reserved: db.prepare("SELECT * FROM budget_reservations WHERE id = ?"),
      release: db.prepare("DELETE FROM budget_reservations WHERE id = ?"),
      count: db.prepare("UPDATE budget_uses SET spent = max(0, spent + ?) WHERE budget = ? AND start = ?"),
      renew: db.prepare("UPDATE budget_reservations SET expires_at = ? WHERE owner = ? AND has_lapsed = 0"),
    };
  }

  list(person?: string): Promise<readonly TeamBudget[]> {
    const { all, list } = this.#statements;
    return this.#db.read(() => (person === undefined ? all.all() : list.all(person)).map(toBudget));
  }

  async put(budget: TeamBudget, act: AuditAct): Promise<void> {
    await this.#db.transactBeside(() => {
      this.write(budget);
      this.#audit.record(act);
    });
  }

  remove(id: string, act: AuditAct): Promise<boolean> {
    return this.#db.transactBeside(() => {
      if (this.#statements.remove.run(id).changes === 0) return false;
      this.#audit.record(act);
      return true;
    });
  }

  uses(periods: readonly { budget: string; start: number }[]): Promise<readonly BudgetUse[]> {
    return this.#db.snapshot(() =>
      periods.flatMap(({ budget, start }) => {
        const row = this.#statements.use.get(budget, start);
        return row ? [toBudgetUse(row)] : [];
      }),
    );
  }

  reserve(reservation: BudgetReservation, now: number): Promise<ReservationResult> {
    const { id, owner, expiresAt } = reservation;
    const { isReserved, exists, putCeiling, dropUses, putUse, reserve } = this.#statements;
    return this.#db.transactBeside(() => {
      checkBudgetAmounts(reservation.shares);
      this.#lapse(now);
      for (const { budget } of reservation.shares)
        if (budget.startsWith(CEILING_PREFIX)) putCeiling.run(budget);
      // A budget that was removed meanwhile limits nothing.
      const shares = reservation.shares.filter(({ budget }) => exists.get(budget));
      for (const { budget, keepFrom } of shares) dropUses.run(budget, keepFrom);
      const uses = shares.map((share) => this.#findUse(share));
      if (isReserved.get(id)) return { refused: [], uses };
      const isFull = ({ limit }: BudgetShare, at: number) => {
        const { spent = 0, reserved = 0 } = uses[at] ?? {};
        return spent + reserved >= limit;
      };
      const refused = shares.filter(isFull).map(({ budget }) => budget);
      if (refused.length > 0) return { refused, uses };
      const changed = shares.map(({ budget, start, amount }, at) => {
        const { spent = 0, reserved = 0 } = uses[at] ?? {};
        putUse.run(budget, start, spent);
        reserve.run(id, budget, start, amount, owner, expiresAt);
        return { budget, start, spent, reserved: reserved + amount };
      });
      return { refused: [], uses: changed };
    });
  }

  async settle(id: string, amounts: readonly { budget: string; amount: number }[]): Promise<void> {
    const { reserved, count, release } = this.#statements;
    checkBudgetAmounts(amounts);
    await this.#db.transactBeside(() => {
      for (const { budget, start, amount, has_lapsed: hasLapsed } of reserved.all(id)) {
        const spent = amounts.find((one) => one.budget === budget)?.amount ?? 0;
        // A lapsed estimate has been counted as spent.
        const counted = hasLapsed === 1 ? (amount as number) : 0;
        count.run(spent - counted, budget as string, start as number);
      }
      release.run(id);
    });
  }

  async renew(owner: string, expiresAt: number): Promise<void> {
    await this.#db.transactBeside(() => {
      this.#statements.renew.run(expiresAt, owner);
    });
  }

  /** Adds or replaces a budget inside a transaction of the caller. */
  write({ id, person, project, model, unit, amount, period }: TeamBudget): void {
    const scope = [person ?? null, project ?? null, model ?? null];
    this.#statements.put.run(id, ...scope, unit, amount, period);
  }

  /** Sets the use of a period inside a transaction of the caller. */
  writeUse({ budget, start, spent }: BudgetUse): void {
    this.#statements.putUse.run(budget, start, spent);
  }

  /** The use of all periods. */
  allUses(): Promise<readonly BudgetUse[]> {
    return this.#db.read(() => this.#statements.allUses.all().map(toBudgetUse));
  }

  #findUse({ budget, start }: BudgetShare): BudgetUse {
    const row = this.#statements.use.get(budget, start);
    return row ? toBudgetUse(row) : { budget, start, spent: 0, reserved: 0 };
  }

  /**
   * Counts expired reservations as spent: nobody knows whether the provider answered the request of a gateway that died.
   * Their rows stay for a while, in case the request settles late.
   */
  #lapse(now: number): void {
    const { expired, lapse, count, dropLapsed } = this.#statements;
    for (const row of expired.all(now)) {
      const [id, budget] = [row.id as string, row.budget as string];
      lapse.run(id, budget);
      count.run(row.amount as number, budget, row.start as number);
    }
    dropLapsed.run(now - LAPSED_KEPT_MS);
  }
}
