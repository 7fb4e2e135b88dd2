import { isTerminal } from "../../model/task.ts";
import { omitEmpty, type RecordRow } from "./record-rows.ts";
import { createTaskConflict } from "./refusals.ts";
import type { NewTask, TaskChange, TaskFields, TaskRecord } from "./task-store.ts";

/** A task, from its row and the id of its session. */
export function toTaskRecord(row: RecordRow): TaskRecord {
  return {
    id: row.id as string,
    session: row.session_id as string,
    agent: row.agent as string,
    state: row.state as TaskRecord["state"],
    mode: row.mode as TaskRecord["mode"],
    epoch: row.epoch as number,
    // SQLite has no booleans.
    canResume: row.can_resume === 1 || row.can_resume === true,
    resumes: row.resumes as number,
    attempts: row.attempts as number,
    createdAt: row.created_at as number,
    firstSeq: row.first_seq as number,
    lastSeq: row.last_seq as number,
    noticeSeq: row.notice_seq as number,
    ...omitEmpty({
      parent: row.parent as string | null,
      parentSession: row.parent_session as string | null,
      queue: row.queue as string | null,
      person: row.person as string | null,
      owner: row.owner as string | null,
      wish: row.wish as TaskRecord["wish"] | null,
      wishReason: row.wish_reason as string | null,
      notice: row.notice as TaskRecord["notice"] | null,
      settledAt: row.settled_at as number | null,
      deadlineAt: row.deadline_at as number | null,
    }),
  };
}

/** Throws TASK_CONFLICT unless the row of a task is as a change expects it. */
export function checkTaskRow<R extends RecordRow>({ id, expect }: TaskChange, row: R | undefined): R {
  const isAsExpected =
    row?.epoch === expect.epoch &&
    (expect.state === undefined || row.state === expect.state) &&
    (expect.notice === undefined || row.notice === expect.notice);
  if (row && isAsExpected) return row;
  throw createTaskConflict(id, "has changed, has ended, or is run by someone else");
}

/** Columns of a task that its creation sets for good. */
const FIXED_TASK_COLUMNS = [
  ...["id", "session", "parent", "parent_session", "agent", "queue", "person"],
  ...["created_at", "deadline_at", "first_seq"],
];
const CHANGING_TASK_COLUMNS = [
  ...[
    "state",
    "mode",
    "owner",
    "epoch",
    "can_resume",
    "resumes",
    "wish",
    "wish_reason",
    "notice",
    "attempts",
  ],
  ...["settled_at", "last_seq", "notice_seq"],
];

/** The writes of tasks in SQL; `mark` writes the placeholder of the value at a place, counted from 1. */
export function writeTaskSql(table: string, mark: (place: number) => string) {
  const columns = [...CHANGING_TASK_COLUMNS, ...FIXED_TASK_COLUMNS];
  const set = (value: (column: string, index: number) => string) =>
    CHANGING_TASK_COLUMNS.map((column, index) => `${column} = ${value(column, index)}`).join(", ");
  const insert = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((_, index) => mark(index + 1)).join(", ")})`;
  return {
    insert,
    put: `${insert} ON CONFLICT (id) DO UPDATE SET ${set((column) => `excluded.${column}`)}`,
    /** The last value is the id. */
    update: `UPDATE ${table} SET ${set((_, index) => mark(index + 1))} WHERE id = ${mark(CHANGING_TASK_COLUMNS.length + 1)}`,
  };
}

type TaskValue = string | number | boolean | null;

/** The values of `insert` and `put`; `session` is the number of the task's session. */
export function toTaskValues(task: Omit<TaskRecord, "session">, session: number): readonly TaskValue[] {
  return [
    ...[
      task.state,
      task.mode,
      task.owner ?? null,
      task.epoch,
      task.canResume,
      task.resumes,
      task.wish ?? null,
    ],
    ...[task.wishReason ?? null, task.notice ?? null, task.attempts, task.settledAt ?? null],
    ...[task.lastSeq, task.noticeSeq, task.id, session, task.parent ?? null, task.parentSession ?? null],
    ...[task.agent, task.queue ?? null, task.person ?? null, task.createdAt, task.deadlineAt ?? null],
    task.firstSeq,
  ];
}

/** The values of `insert` for a new task, whose first entry has `firstSeq`. */
export function toNewTaskValues(task: NewTask, session: number, firstSeq: number): readonly TaskValue[] {
  return toTaskValues({ ...task, firstSeq, lastSeq: 0, noticeSeq: 0 }, session);
}

/** The values of `update` for a change of the task with this row; `seq` is that of the entry which the change marks. */
export function toChangedTaskValues(
  { id, set = {}, marks }: TaskChange,
  row: RecordRow,
  seq: number,
): readonly TaskValue[] {
  const has = (name: keyof TaskFields) => name in set;
  const { state = row.state as TaskRecord["state"], canResume = row.can_resume as boolean | number } = set;
  // A kill request stays until the task has ended.
  const keepsWish = !has("wish") || (row.wish === "kill" && !isTerminal(state));
  const wish = keepsWish ? [row.wish, row.wish_reason] : [null, null];
  return [
    ...[state, set.mode ?? row.mode, has("owner") ? (set.owner ?? null) : row.owner, set.epoch ?? row.epoch],
    ...[
      canResume,
      set.resumes ?? row.resumes,
      ...wish,
      set.notice ?? row.notice,
      set.attempts ?? row.attempts,
    ],
    ...[set.settledAt ?? row.settled_at, marks === "last" ? seq : row.last_seq],
    ...[marks === "notice" ? seq : row.notice_seq, id],
  ] as TaskValue[];
}
