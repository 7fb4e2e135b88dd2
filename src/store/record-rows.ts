import type { IntakeState, TakenRecord } from "./intake-store.ts";
import type { SessionRecord } from "./session-store.ts";
import type { TaskRecord } from "./task-store.ts";
import type { MovedIntake, MovedRecord } from "./transfer-store.ts";

type RecordRow = Readonly<Record<string, unknown>>;

type Filled<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> };

/** Omits the columns without a value: a record has a field only if its row has one. */
function omitEmpty<T extends object>(columns: T): Filled<T> {
  return Object.fromEntries(
    Object.entries(columns).filter(([, value]) => value !== null && value !== undefined),
  ) as Filled<T>;
}

/** A session as the row of either engine holds it. */
export function toSessionRecord(row: RecordRow): SessionRecord {
  return {
    id: row.id as string,
    createdAt: row.created_at as number,
    lineSeq: row.line_seq as number,
    ...omitEmpty({
      parent: row.parent as string | null,
      relation: row.relation as "child" | "fork" | null,
      title: row.title as string | null,
      meta: parseMeta(row.meta as string | null),
    }),
  };
}

/** Returns undefined for damaged meta, which must not make the session or the list unreadable. */
function parseMeta(text: string | null): SessionRecord["meta"] {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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

export function toIntakeState(row: RecordRow): IntakeState {
  return {
    session: row.session as string,
    stamp: row.stamp as number,
    ...omitEmpty({ checkpoint: row.checkpoint as string | null, progress: row.progress as string | null }),
  };
}

export function toMovedIntake(row: RecordRow): MovedIntake {
  return { name: row.name as string, ...toIntakeState(row) };
}

export function toTakenRecord(row: RecordRow): TakenRecord {
  return { seq: row.seq as number, ...omitEmpty({ version: row.version as string | null }) };
}

export function toMovedRecord(row: RecordRow): MovedRecord {
  return { id: row.record as string, ...toTakenRecord(row) };
}
