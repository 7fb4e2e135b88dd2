import type { StatementSync } from "node:sqlite";
import { createTaskConflict, createTaskNotFound } from "../../log/store/refusals.ts";
import {
  checkTaskRow,
  toChangedTaskValues,
  toNewTaskValues,
  toTaskRecord,
  writeTaskSql,
} from "../../log/store/task-rows.ts";
import type {
  NewTask,
  TaskChange,
  TaskQuery,
  TaskRecord,
  TaskRequest,
  TaskStore,
  TaskWrite,
} from "../../log/store/task-store.ts";
import { isTerminal, type TaskId } from "../../model/task.ts";
import type { Database, Row } from "./database.ts";
import type { SessionCache } from "./session-cache.ts";

const SELECT =
  "SELECT t.*, s.id AS session_id FROM tasks t JOIN sessions s ON s.number = t.session WHERE s.id IS NOT NULL";
const WRITES = writeTaskSql("tasks", () => "?");
const NEWEST_FIRST = "ORDER BY t.number DESC LIMIT ?";
const LIST_OF_QUEUE = `${SELECT} AND t.number < :start AND (:states IS NULL OR instr(:states, t.state) > 0)
  AND (:session IS NULL OR t.session = :session) AND (:parent IS NULL OR t.parent = :parent)
  AND (:queue IS NULL OR t.queue = :queue) AND (:person IS NULL OR t.person = :person) ORDER BY t.number DESC LIMIT :limit`;
const END = Number.MAX_SAFE_INTEGER;

/** SQLite has no booleans. */
export function toSqliteValues<T>(values: readonly (T | boolean)[]): readonly (T | number)[] {
  return values.map((value) => (typeof value === "boolean" ? Number(value) : value));
}

/** Tasks in SQLite. */
export class SqliteTasks implements TaskStore {
  readonly #db: Database;
  readonly #cache: SessionCache;
  readonly #statements;
  /** Prepared by the first task: a database of an older version that is only read lacks some of the columns. */
  #insertTask: StatementSync | undefined;
  /** Prepared by the first list of a queue or person, for the same reason. */
  #listOfQueue: StatementSync | undefined;
  /** The row that `check` read for the next `apply` of the same transaction. */
  #checked: Row | undefined;

  constructor(db: Database, cache: SessionCache) {
    this.#db = db;
    this.#cache = cache;
    this.#statements = {
      get: db.prepare(`${SELECT} AND t.id = ?`),
      numberOf: db.prepare("SELECT number FROM tasks WHERE id = ?"),
      fields: db.prepare(
        `SELECT state, mode, owner, epoch, can_resume, resumes, wish, wish_reason, notice, attempts, settled_at, last_seq, notice_seq
         FROM tasks WHERE id = ?`,
      ),
      list: db.prepare(`${SELECT} AND t.number < ? AND (? IS NULL OR instr(?, t.state) > 0) ${NEWEST_FIRST}`),
      listOfSession: db.prepare(
        `${SELECT} AND t.number < ? AND (? IS NULL OR instr(?, t.state) > 0) AND t.session = ? ${NEWEST_FIRST}`,
      ),
      listOfParent: db.prepare(
        `${SELECT} AND t.number < ? AND (? IS NULL OR instr(?, t.state) > 0) AND t.parent = ? ${NEWEST_FIRST}`,
      ),
      owners: db.prepare("SELECT DISTINCT owner FROM tasks WHERE notice IS NOT 'done'"),
      openOf: db.prepare(
        `${SELECT} AND t.notice IS NOT 'done' AND t.owner IS ? AND t.number > ? ORDER BY t.number LIMIT ?`,
      ),
      wishedOf: db.prepare(`${SELECT} AND t.wish IS NOT NULL AND t.owner = ?`),
      wish: db.prepare("UPDATE tasks SET wish = ?, wish_reason = ? WHERE id = ?"),
      update: db.prepare(WRITES.update),
    };
  }

  async get(id: TaskId): Promise<TaskRecord | undefined> {
    return this.#db.read(() => this.#find(id));
  }

  async list(query: TaskQuery): Promise<readonly TaskRecord[]> {
    const { limit, before, session, parent, states, queue, person } = query;
    return this.#db.snapshot(() => {
      const start = before === undefined ? END : this.#numberOf(before);
      const wanted = states?.join(" ") ?? null;
      if (queue !== undefined || person !== undefined) {
        const number = session === undefined ? null : this.#cache.require(session).number;
        this.#listOfQueue ??= this.#db.prepare(LIST_OF_QUEUE);
        const filters = { start, states: wanted, session: number, parent: parent ?? null };
        const places = { queue: queue ?? null, person: person ?? null };
        return this.#listOfQueue.all({ ...filters, ...places, limit }).map(toTaskRecord);
      }
      if (parent !== undefined)
        return this.#statements.listOfParent.all(start, wanted, wanted, parent, limit).map(toTaskRecord);
      if (session === undefined)
        return this.#statements.list.all(start, wanted, wanted, limit).map(toTaskRecord);
      const { number } = this.#cache.require(session);
      return this.#statements.listOfSession.all(start, wanted, wanted, number, limit).map(toTaskRecord);
    });
  }

  async owners(): Promise<readonly (string | undefined)[]> {
    const rows = await this.#db.read(() => this.#statements.owners.all());
    return rows.map(({ owner }) => (owner === null ? undefined : (owner as string)));
  }

  async openOf(
    owner: string | undefined,
    { limit, after }: { limit: number; after?: TaskId },
  ): Promise<readonly TaskRecord[]> {
    return this.#db.snapshot(() => {
      const start = after === undefined ? 0 : this.#numberOf(after);
      return this.#statements.openOf.all(owner ?? null, start, limit).map(toTaskRecord);
    });
  }

  async listRequested(owner: string): Promise<readonly TaskRecord[]> {
    return this.#db.read(() => this.#statements.wishedOf.all(owner).map(toTaskRecord));
  }

  async request(id: TaskId, wish: TaskRequest, reason?: string): Promise<TaskRecord | undefined> {
    return this.#db.transactBeside(() => {
      const task = this.#find(id);
      if (!task || isTerminal(task.state) || task.wish === "kill" || task.wish === wish) return task;
      this.#statements.wish.run(wish, reason ?? null, id);
      return this.#find(id);
    });
  }

  async change(change: TaskChange): Promise<TaskRecord> {
    return this.#db.transactBeside(() => {
      this.check(change);
      this.apply(change, "", 0);
      return this.#find(change.id) as TaskRecord;
    });
  }

  /** Within a transaction, before any write: throws TASK_CONFLICT unless the task is as expected. */
  check(write: TaskWrite): void {
    if ("create" in write) {
      const { create, parentEpoch } = write;
      if (this.#statements.numberOf.get(create.id)) throw createTaskConflict(create.id, "exists already");
      if (
        parentEpoch !== undefined &&
        this.#statements.fields.get(create.parent ?? "")?.epoch !== parentEpoch
      )
        throw createTaskConflict(
          create.parent ?? "",
          "has ended or is run by someone else, and has no more children",
        );
      return;
    }
    this.#checked = checkTaskRow(write, this.#statements.fields.get(write.id));
  }

  /** Within a transaction, after the entries of the append: applies the checked write. */
  apply(write: TaskWrite, session: string, firstSeq: number): void {
    if ("create" in write) this.#insert(write.create, session, firstSeq);
    else if (write.set) this.#update(write, firstSeq);
  }

  #insert(task: NewTask, session: string, firstSeq: number): void {
    this.#insertTask ??= this.#db.prepare(WRITES.insert);
    const { number } = this.#cache.require(session);
    this.#insertTask.run(...toSqliteValues(toNewTaskValues(task, number, firstSeq)));
  }

  #update(change: TaskChange, firstSeq: number): void {
    this.#statements.update.run(
      ...toSqliteValues(toChangedTaskValues(change, this.#checked as Row, firstSeq)),
    );
  }

  #find(id: TaskId): TaskRecord | undefined {
    const row = this.#statements.get.get(id);
    return row && toTaskRecord(row);
  }

  #numberOf(id: TaskId): number {
    const row = this.#statements.numberOf.get(id);
    if (row) return row.number as number;
    throw createTaskNotFound(id);
  }
}
