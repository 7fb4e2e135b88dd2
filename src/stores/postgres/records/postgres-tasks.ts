import { toTaskRecord } from "../../../log/store/record-rows.ts";
import { createTaskNotFound } from "../../../log/store/refusals.ts";
import type {
  TaskChange,
  TaskQuery,
  TaskRecord,
  TaskRequest,
  TaskStore,
} from "../../../log/store/task-store.ts";
import { isTerminal, type TaskId } from "../../../model/task.ts";
import type { PostgresDatabase, Sql } from "../connection/postgres-database.ts";
import type { SqlValue } from "../connection/sql-values.ts";
import type { LogHeads } from "../heads/log-heads.ts";
import { applyTask, checkTask, type SendTask } from "./task-writes.ts";

/** Tasks in PostgreSQL. */
export class PostgresTasks implements TaskStore {
  readonly #db: PostgresDatabase;
  readonly #heads: LogHeads;
  readonly #send: SendTask;

  constructor(db: PostgresDatabase, heads: LogHeads, send: SendTask) {
    this.#db = db;
    this.#heads = heads;
    this.#send = send;
  }

  async get(id: TaskId): Promise<TaskRecord | undefined> {
    return this.#find(this.#db, id);
  }

  async list(query: TaskQuery): Promise<readonly TaskRecord[]> {
    const { limit, before, session, parent, states, queue, person } = query;
    const start = before === undefined ? Number.MAX_SAFE_INTEGER : await this.#numberOf(before);
    const filters = ["t.number < $1"];
    const values: SqlValue[] = [start, limit];
    const filter = (sql: string, value: SqlValue) => {
      values.push(value);
      filters.push(`${sql}$${values.length}${sql.endsWith("(") ? "::text[])" : ""}`);
    };
    if (states) filter("t.state = ANY(", states);
    if (queue !== undefined) filter("t.queue = ", queue);
    if (person !== undefined) filter("t.person = ", person);
    if (parent !== undefined) filter("t.parent = ", parent);
    else if (session !== undefined)
      filter("t.session = ", (await this.#heads.require(this.#db, session)).number);
    const rows = await this.#db.query(
      `${SELECT_TASKS} AND ${filters.join(" AND ")} ORDER BY t.number DESC LIMIT $2`,
      values,
    );
    return rows.map(toTaskRecord);
  }

  async owners(): Promise<readonly (string | undefined)[]> {
    const rows = await this.#db.query(
      "SELECT DISTINCT owner FROM @tasks WHERE notice IS DISTINCT FROM 'done'",
    );
    return rows.map(({ owner }) => (owner === null ? undefined : (owner as string)));
  }

  async openOf(
    owner: string | undefined,
    { limit, after }: { limit: number; after?: TaskId },
  ): Promise<readonly TaskRecord[]> {
    const start = after === undefined ? 0 : await this.#numberOf(after);
    const isOwned = owner === undefined ? "t.owner IS NULL AND $3::text IS NULL" : "t.owner = $3";
    const rows = await this.#db.query(
      `${SELECT_TASKS} AND t.notice IS DISTINCT FROM 'done' AND ${isOwned} AND t.number > $1 ORDER BY t.number LIMIT $2`,
      [start, limit, owner ?? null],
    );
    return rows.map(toTaskRecord);
  }

  async listRequested(owner: string): Promise<readonly TaskRecord[]> {
    const rows = await this.#db.query(
      `${SELECT_TASKS} AND t.wish IS NOT NULL AND t.owner = $1 ORDER BY t.number`,
      [owner],
    );
    return rows.map(toTaskRecord);
  }

  async request(id: TaskId, wish: TaskRequest, reason?: string): Promise<TaskRecord | undefined> {
    return this.#db.transact(async (transaction) => {
      await transaction.query("SELECT 1 FROM @tasks WHERE id = $1 FOR NO KEY UPDATE", [id]);
      const task = await this.#find(transaction, id);
      if (!task || isTerminal(task.state) || task.wish === "kill" || task.wish === wish) return task;
      await transaction.query("UPDATE @tasks SET wish = $2, wish_reason = $3 WHERE id = $1", [
        id,
        wish,
        reason ?? null,
      ]);
      return this.#find(transaction, id);
    });
  }

  async change(change: TaskChange): Promise<TaskRecord> {
    return this.#db.transact(async (transaction) => {
      await applyTask(transaction, await checkTask(transaction, change), 0, 0, this.#send);
      return (await this.#find(transaction, change.id)) as TaskRecord;
    });
  }

  async #find(sql: Sql, id: TaskId): Promise<TaskRecord | undefined> {
    const [row] = await sql.query(`${SELECT_TASKS} AND t.id = $1`, [id]);
    return row && toTaskRecord(row);
  }

  async #numberOf(id: TaskId): Promise<number> {
    const [row] = await this.#db.query("SELECT number FROM @tasks WHERE id = $1", [id]);
    if (row) return row.number as number;
    throw createTaskNotFound(id);
  }
}

/** Selects tasks with the ids of their sessions. */
const SELECT_TASKS =
  "SELECT t.*, s.id AS session_id FROM @tasks t JOIN @sessions s ON s.number = t.session WHERE s.id IS NOT NULL";
