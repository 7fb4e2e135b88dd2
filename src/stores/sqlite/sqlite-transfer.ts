import type { Lease } from "../../log/store/lease-store.ts";
import { readTeam } from "../../log/store/read-team.ts";
import { toMovedIntake, toMovedRecord } from "../../log/store/record-rows.ts";
import { toTaskValues, writeTaskSql } from "../../log/store/task-rows.ts";
import type { TaskRecord } from "../../log/store/task-store.ts";
import type { MovedIntake, MovedRecord, MovedTeam, TransferStore } from "../../log/store/transfer-store.ts";
import type { Database } from "./database.ts";
import type { SessionCache } from "./session-cache.ts";
import { toSqliteValues } from "./sqlite-tasks.ts";
import type { SqliteAudit } from "./team/sqlite-audit.ts";
import type { SqliteBudgets } from "./team/sqlite-budgets.ts";
import type { SqlitePeople } from "./team/sqlite-people.ts";

interface SqliteTeam {
  readonly people: SqlitePeople;
  readonly budgets: SqliteBudgets;
  readonly audit: SqliteAudit;
}

/** Moves of intakes, tasks and people in SQLite. */
export class SqliteTransfer implements TransferStore {
  readonly #db: Database;
  readonly #cache: SessionCache;
  readonly #team: SqliteTeam;
  readonly #statements;

  constructor(db: Database, cache: SessionCache, { people, budgets, audit }: SqliteTeam) {
    this.#db = db;
    this.#cache = cache;
    this.#team = { people, budgets, audit };
    this.#statements = {
      intakes: db.prepare(
        `SELECT i.name, s.id AS session, i.stamp, i.checkpoint, i.progress FROM intakes i JOIN sessions s ON s.number = i.session
         WHERE i.name > ? AND s.id IS NOT NULL ORDER BY i.name LIMIT ?`,
      ),
      records: db.prepare(
        `SELECT r.record, r.seq, r.version FROM intake_records r JOIN intakes i ON i.number = r.intake
         WHERE i.name = ? AND r.record > ? ORDER BY r.record LIMIT ?`,
      ),
      clearPeople: db.prepare("DELETE FROM people"),
      clearBudgets: db.prepare("DELETE FROM budgets"),
      number: db.prepare("SELECT number FROM intakes WHERE name = ?"),
      addIntake: db.prepare("INSERT INTO intakes (name, session) VALUES (?, ?)"),
      setIntake: db.prepare("UPDATE intakes SET stamp = ?, checkpoint = ?, progress = ? WHERE number = ?"),
      putRecord: db.prepare(
        "INSERT INTO intake_records (intake, record, seq, version) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq, version = excluded.version",
      ),
      keys: db.prepare("SELECT name, owner, expires_at FROM leases WHERE name LIKE 'key %'"),
      putKey: db.prepare("INSERT OR REPLACE INTO leases (name, owner, expires_at) VALUES (?, ?, ?)"),
      putTask: db.prepare(writeTaskSql("tasks", () => "?").put),
    };
  }

  intakes({ after = "", limit }: { after?: string; limit: number }): Promise<readonly MovedIntake[]> {
    return this.#db.read(() => this.#statements.intakes.all(after, limit).map(toMovedIntake));
  }

  records(
    name: string,
    { after = "", limit }: { after?: string; limit: number },
  ): Promise<readonly MovedRecord[]> {
    return this.#db.read(() => this.#statements.records.all(name, after, limit).map(toMovedRecord));
  }

  async putRecords(intake: MovedIntake, records: readonly MovedRecord[]): Promise<void> {
    await this.#db.transact(() => {
      const number = this.#requireIntake(intake);
      for (const { id, seq, version } of records)
        this.#statements.putRecord.run(number, id, seq, version ?? null);
    });
  }

  async putIntake(intake: MovedIntake): Promise<void> {
    await this.#db.transact(() => {
      const { stamp, checkpoint, progress } = intake;
      this.#statements.setIntake.run(
        stamp,
        checkpoint ?? null,
        progress ?? null,
        this.#requireIntake(intake),
      );
    });
  }

  async putTask(task: TaskRecord): Promise<void> {
    await this.#db.transact(() => {
      const { number } = this.#cache.require(task.session);
      this.#statements.putTask.run(...toSqliteValues(toTaskValues(task, number)));
    });
  }

  keys(): Promise<readonly Lease[]> {
    return this.#db.read(() =>
      this.#statements.keys.all().map(({ name, owner, expires_at: expiresAt }) => ({
        name: name as string,
        owner: owner as string,
        expiresAt: expiresAt as number,
      })),
    );
  }

  async putKey({ name, owner, expiresAt }: Lease): Promise<void> {
    await this.#db.transactBeside(() => {
      this.#statements.putKey.run(name, owner, expiresAt);
    });
  }

  team(afterAudit: number): Promise<MovedTeam> {
    return readTeam(this.#team, afterAudit);
  }

  async putTeam(team: MovedTeam): Promise<void> {
    const { people, budgets, audit } = this.#team;
    await this.#db.transact(() => {
      this.#statements.clearPeople.run();
      this.#statements.clearBudgets.run();
      for (const person of team.people) people.write(person);
      for (const token of team.tokens) people.writeToken(token);
      for (const budget of team.budgets) budgets.write(budget);
      for (const use of team.uses) budgets.writeUse(use);
      for (const entry of team.audit) audit.insert(entry);
    });
  }

  #requireIntake({ name, session }: MovedIntake): number {
    const known = this.#statements.number.get(name)?.number as number | undefined;
    if (known !== undefined) return known;
    return Number(this.#statements.addIntake.run(name, this.#cache.require(session).number).lastInsertRowid);
  }
}
