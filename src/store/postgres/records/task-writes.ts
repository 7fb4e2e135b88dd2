import { isTerminal, type TaskState } from "../../../model/task.ts";
import { createTaskConflict } from "../../refusals.ts";
import type { WaitingTask } from "../../task-delivery.ts";
import type { NewTask, TaskChange, TaskFields, TaskWrite } from "../../task-store.ts";
import type { Transaction } from "../connection/postgres-database.ts";
import { createRetry } from "../connection/postgres-error.ts";
import type { SqlRow } from "../connection/sql-values.ts";

/** Sends a task that waits in a queue to the workers, within the transaction that lets it wait. */
export type SendTask = (transaction: Transaction, task: WaitingTask) => Promise<void>;

/** A write whose conditions hold until the end of the transaction. */
interface CheckedTask {
  readonly write: TaskWrite;
  /** The row of a task that is changed. */
  readonly row: SqlRow | undefined;
}

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
  const { id, expect } = write;
  const [row] = await transaction.query("SELECT * FROM @tasks WHERE id = $1 FOR NO KEY UPDATE", [id]);
  const isAsExpected =
    row?.epoch === expect.epoch &&
    (expect.state === undefined || row.state === expect.state) &&
    (expect.notice === undefined || row.notice === expect.notice);
  if (!isAsExpected) throw createTaskConflict(id, "has changed, has ended, or is run by someone else");
  return { write, row };
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
    await insertTask(transaction, write.create, session, firstSeq);
    if (isWaiting(write.create)) await send(transaction, write.create);
  } else if (write.set && row) {
    await updateTask(transaction, write, row, firstSeq);
    const task = { ...toWaitingFields(row), ...write.set };
    if (isWaiting(task)) await send(transaction, task);
  }
}

type WaitingFields = Pick<NewTask, "id" | "agent" | "state" | "queue" | "person"> & {
  readonly owner?: string | undefined;
};

function toWaitingFields(row: SqlRow): WaitingFields {
  return {
    id: row.id as string,
    agent: row.agent as string,
    state: row.state as TaskState,
    ...(row.owner !== null && { owner: row.owner as string }),
    ...(row.queue !== null && { queue: row.queue as string }),
    ...(row.person !== null && { person: row.person as string }),
  };
}

function isWaiting(task: WaitingFields): task is WaitingFields & WaitingTask {
  return task.queue !== undefined && task.state === "queued" && task.owner === undefined;
}

async function insertTask(
  transaction: Transaction,
  task: NewTask,
  session: number,
  firstSeq: number,
): Promise<void> {
  const made = await transaction.query(
    `INSERT INTO @tasks (id, session, parent, parent_session, agent, state, mode, owner, epoch, can_resume, resumes,
       attempts, created_at, deadline_at, first_seq, queue, person)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT (id) DO NOTHING RETURNING number`,
    [
      task.id,
      session,
      task.parent ?? null,
      task.parentSession ?? null,
      task.agent,
      task.state,
      task.mode,
      task.owner ?? null,
      task.epoch,
      task.canResume,
      task.resumes,
      task.attempts,
      task.createdAt,
      task.deadlineAt ?? null,
      firstSeq,
      task.queue ?? null,
      task.person ?? null,
    ],
  );
  // Made by someone else after the check: the transaction runs again and finds the task.
  if (made.length === 0) throw createRetry(`Task ${task.id} was created meanwhile`);
}

async function updateTask(
  transaction: Transaction,
  { id, set, marks }: TaskChange,
  row: SqlRow,
  firstSeq: number,
): Promise<void> {
  const has = (name: keyof TaskFields) => set !== undefined && name in set;
  const state = set?.state ?? (row.state as TaskState);
  // A kill request stays until the task has ended.
  const keepsWish = !has("wish") || (row.wish === "kill" && !isTerminal(state));
  await transaction.query(
    `UPDATE @tasks SET state = $2, mode = $3, owner = $4, epoch = $5, resumes = $6, wish = $7, wish_reason = $8,
       notice = $9, attempts = $10, settled_at = $11, last_seq = $12, notice_seq = $13, can_resume = $14 WHERE id = $1`,
    [
      id,
      state,
      set?.mode ?? (row.mode as string),
      has("owner") ? (set?.owner ?? null) : (row.owner as string | null),
      set?.epoch ?? (row.epoch as number),
      set?.resumes ?? (row.resumes as number),
      keepsWish ? (row.wish as string | null) : null,
      keepsWish ? (row.wish_reason as string | null) : null,
      set?.notice ?? (row.notice as string | null),
      set?.attempts ?? (row.attempts as number),
      set?.settledAt ?? (row.settled_at as number | null),
      marks === "last" ? firstSeq : (row.last_seq as number),
      marks === "notice" ? firstSeq : (row.notice_seq as number),
      set?.canResume ?? (row.can_resume as boolean),
    ],
  );
}
