import type { Lease } from "../../../log/store/lease-store.ts";
import { readTeam } from "../../../log/store/read-team.ts";
import { toMovedIntake, toMovedRecord } from "../../../log/store/record-rows.ts";
import { toTaskValues } from "../../../log/store/task-rows.ts";
import type { TaskRecord } from "../../../log/store/task-store.ts";
import type {
  MovedIntake,
  MovedRecord,
  MovedTeam,
  TransferStore,
} from "../../../log/store/transfer-store.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import type { LogHeads } from "../heads/log-heads.ts";
import type { PostgresAudit } from "../team/postgres-audit.ts";
import type { PostgresBudgets } from "../team/postgres-budgets.ts";
import type { PostgresPeople } from "../team/postgres-people.ts";
import { toLeaseRecord } from "./postgres-leases.ts";
import { TASK_WRITES } from "./postgres-tasks.ts";

interface PostgresTeam {
  readonly people: PostgresPeople;
  readonly budgets: PostgresBudgets;
  readonly audit: PostgresAudit;
}

/** Moves of intakes, tasks and people in PostgreSQL. */
export class PostgresTransfer implements TransferStore {
  readonly #db: PostgresDatabase;
  readonly #heads: LogHeads;
  readonly #team: PostgresTeam;

  constructor(db: PostgresDatabase, heads: LogHeads, { people, budgets, audit }: PostgresTeam) {
    this.#db = db;
    this.#heads = heads;
    this.#team = { people, budgets, audit };
  }

  async intakes({ after = "", limit }: { after?: string; limit: number }): Promise<readonly MovedIntake[]> {
    const rows = await this.#db.query(
      `SELECT i.name, s.id AS session, i.stamp, i.checkpoint, i.progress FROM @intakes i JOIN @sessions s ON s.number = i.session
       WHERE i.name > $1 AND s.id IS NOT NULL ORDER BY i.name LIMIT $2`,
      [after, limit],
    );
    return rows.map(toMovedIntake);
  }

  async records(
    name: string,
    { after = "", limit }: { after?: string; limit: number },
  ): Promise<readonly MovedRecord[]> {
    const rows = await this.#db.query(
      `SELECT r.record, r.seq, r.version FROM @intake_records r JOIN @intakes i ON i.number = r.intake
       WHERE i.name = $1 AND r.record > $2 ORDER BY r.record LIMIT $3`,
      [name, after, limit],
    );
    return rows.map(toMovedRecord);
  }

  async putRecords(intake: MovedIntake, records: readonly MovedRecord[]): Promise<void> {
    await this.#db.transact(async (transaction) => {
      const number = await this.#requireIntake(transaction, intake);
      await transaction.query(
        `INSERT INTO @intake_records (intake, record, seq, version)
         SELECT $1, * FROM unnest($2::text[], $3::int[], $4::text[])
         ON CONFLICT (intake, record) DO UPDATE SET seq = excluded.seq, version = excluded.version`,
        [
          number,
          records.map(({ id }) => id),
          records.map(({ seq }) => seq),
          records.map(({ version }) => version ?? null),
        ],
      );
    });
  }

  async putIntake(intake: MovedIntake): Promise<void> {
    await this.#db.transact(async (transaction) => {
      const { stamp, checkpoint, progress } = intake;
      await transaction.query(
        "UPDATE @intakes SET stamp = $2, checkpoint = $3, progress = $4 WHERE number = $1",
        [await this.#requireIntake(transaction, intake), stamp, checkpoint ?? null, progress ?? null],
      );
    });
  }

  async keys(): Promise<readonly Lease[]> {
    const rows = await this.#db.query("SELECT name, owner, expires_at FROM @leases WHERE name LIKE 'key %'");
    return rows.map(toLeaseRecord);
  }

  async putKey({ name, owner, expiresAt }: Lease): Promise<void> {
    await this.#db.query(
      `INSERT INTO @leases (name, owner, expires_at) VALUES ($1, $2, $3)
       ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at`,
      [name, owner, expiresAt],
    );
  }

  team(afterAudit: number): Promise<MovedTeam> {
    return readTeam(this.#team, afterAudit);
  }

  async putTeam(team: MovedTeam): Promise<void> {
    const { people, budgets, audit } = this.#team;
    await this.#db.transact(async (sql) => {
      await sql.query("DELETE FROM @people");
      await sql.query("DELETE FROM @budgets");
      for (const person of team.people) await people.write(sql, person);
      for (const token of team.tokens) await people.writeToken(sql, token);
      for (const budget of team.budgets) await budgets.write(sql, budget);
      for (const use of team.uses) await budgets.writeUse(sql, use);
      for (const entry of team.audit) await audit.insert(sql, entry);
    });
  }

  async putTask(task: TaskRecord): Promise<void> {
    await this.#db.transact(async (transaction) => {
      const number = await this.#heads.requireNumber(transaction, task.session);
      await transaction.query(TASK_WRITES.put, toTaskValues(task, number));
    });
  }

  async #requireIntake(transaction: Transaction, { name, session }: MovedIntake): Promise<number> {
    const number = await this.#heads.requireNumber(transaction, session);
    await transaction.query(
      "INSERT INTO @intakes (name, session) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      [name, number],
    );
    const [row] = await transaction.query("SELECT number FROM @intakes WHERE name = $1", [name]);
    return row?.number as number;
  }
}
