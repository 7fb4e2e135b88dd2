import { omitEmpty } from "../../../log/store/record-rows.ts";
import { createTaskConflict, createTaskNotFound } from "../../../log/store/refusals.ts";
import type { WaitingTask } from "../../../log/store/task-delivery.ts";
import {
  checkTaskRow,
  toChangedTaskValues,
  toNewTaskValues,
  toTaskRecord,
  writeTaskSql,
} from "../../../log/store/task-rows.ts";
import type {
  NewTask,
  TaskChange,
  TaskQuery,
  TaskRecord,
  TaskRequest,
  TaskStore,
  TaskWrite,
} from "../../../log/store/task-store.ts";
import { isTerminal, type TaskId, type TaskState } from "../../../model/task.ts";
import type { PostgresDatabase, Sql, Transaction } from "../connection/postgres-database.ts";
import { createRetry } from "../connection/postgres-error.ts";
import type { SqlRow, SqlValue } from "../connection/sql-values.ts";
import type { LogHeads } from "../heads/log-heads.ts";

export const TASK_WRITES = writeTaskSql("@tasks", (place) => `$${place}`);

/** Sends a task that waits in a queue to the workers, within the transaction that lets it wait. */
export type SendTask = (transaction: Transaction, task: WaitingTask) => Promise<void>;

/** A write whose conditions hold until the end of the transaction. */
interface CheckedTask {
  readonly write: TaskWrite;
  /** The row of a task that is changed. */
  readonly row: SqlRow | undefined;
}

type WaitingFields = Pick<NewTask, "id" | "agent" | "state" | "queue" | "person"> & {
  readonly owner?: string | undefined;
};

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

/** Within a transaction, before any write: locks the task; throws TASK_CONFLICT unless it is as expected. */
export async function checkTask(transaction: Transaction, write: TaskWrite): Promise<CheckedTask> {
  if ("create" in write) {
    const { create, parentEpoch } = write;
    const [known] = await transaction.query("SELECT 1 FROM @tasks WHERE id = $1", [create.id]);
    if (known) throw createTaskConflict(create.id, "exists already");
    if (parentEpoch !== undefined) {
      const [parent] = await transaction.query("SELECT epoch FROM @tasks WHERE id = $1 FOR NO KEY UPDATE", [
        create.parent ?? "",
      ]);
      if (parent?.epoch !== parentEpoch)
        throw createTaskConflict(
          create.parent ?? "",
          "has ended or is run by someone else, and has no more children",
        );
    }
    return { write, row: undefined };
  }
  const [row] = await transaction.query("SELECT * FROM @tasks WHERE id = $1 FOR NO KEY UPDATE", [write.id]);
  return { write, row: checkTaskRow(write, row) };
}

/** Within a transaction, after the entries of the append: applies the checked write. */
export async function applyTask(
  transaction: Transaction,
  { write, row }: CheckedTask,
  session: number,
  firstSeq: number,
  send: SendTask,
): Promise<void> {
  if ("create" in write) {
    const values = toNewTaskValues(write.create, session, firstSeq);
    const insert = `${TASK_WRITES.insert} ON CONFLICT (id) DO NOTHING RETURNING number`;
    const made = await transaction.query(insert, values);
    // Made by someone else after the check: the transaction runs again and finds the task.
    if (made.length === 0) throw createRetry(`Task ${write.create.id} was created meanwhile`);
    if (isWaiting(write.create)) await send(transaction, write.create);
  } else if (write.set && row) {
    await transaction.query(TASK_WRITES.update, toChangedTaskValues(write, row, firstSeq));
    const task = { ...toWaitingFields(row), ...write.set };
    if (isWaiting(task)) await send(transaction, task);
  }
}

function toWaitingFields(row: SqlRow): WaitingFields {
  return {
    id: row.id as string,
    agent: row.agent as string,
    state: row.state as TaskState,
    ...omitEmpty({
      owner: row.owner as string | null,
      queue: row.queue as string | null,
      person: row.person as string | null,
    }),
  };
}

function isWaiting(task: WaitingFields): task is WaitingFields & WaitingTask {
  return task.queue !== undefined && task.state === "queued" && task.owner === undefined;
}
