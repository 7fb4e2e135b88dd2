import {
  checkTaskRow,
  toChangedTaskValues,
  toNewTaskValues,
  writeTaskSql,
} from "../../../log/store/record-rows.ts";
import { createTaskConflict } from "../../../log/store/refusals.ts";
import type { WaitingTask } from "../../../log/store/task-delivery.ts";
import type { NewTask, TaskWrite } from "../../../log/store/task-store.ts";
import type { TaskState } from "../../../model/task.ts";
import type { Transaction } from "../connection/postgres-database.ts";
import { createRetry } from "../connection/postgres-error.ts";
import type { SqlRow } from "../connection/sql-values.ts";

export const TASK_WRITES = writeTaskSql("@tasks", (place) => `$${place}`);

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
