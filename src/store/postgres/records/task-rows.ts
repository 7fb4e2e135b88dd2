import type { TaskRecord, TaskRequest } from "../../task-store.ts";
import type { SqlRow } from "../connection/sql-values.ts";

/** Selects tasks with the ids of their sessions. */
export const SELECT_TASKS =
  "SELECT t.*, s.id AS session_id FROM @tasks t JOIN @sessions s ON s.number = t.session WHERE s.id IS NOT NULL";

/** A task as its row holds it. */
export function toTaskRecord(row: SqlRow): TaskRecord {
  const { parent, parent_session, queue, person, owner, wish, wish_reason, notice, settled_at, deadline_at } =
    row;
  return {
    id: row.id as string,
    session: row.session_id as string,
    ...(parent !== null && { parent: parent as string }),
    ...(parent_session !== null && { parentSession: parent_session as string }),
    agent: row.agent as string,
    ...(queue !== null && { queue: queue as string }),
    ...(person !== null && { person: person as string }),
    state: row.state as TaskRecord["state"],
    mode: row.mode as TaskRecord["mode"],
    ...(owner !== null && { owner: owner as string }),
    epoch: row.epoch as number,
    canResume: row.can_resume as boolean,
    resumes: row.resumes as number,
    ...(wish !== null && { wish: wish as TaskRequest }),
    ...(wish_reason !== null && { wishReason: wish_reason as string }),
    ...(notice !== null && { notice: notice as NonNullable<TaskRecord["notice"]> }),
    attempts: row.attempts as number,
    createdAt: row.created_at as number,
    ...(settled_at !== null && { settledAt: settled_at as number }),
    ...(deadline_at !== null && { deadlineAt: deadline_at as number }),
    firstSeq: row.first_seq as number,
    lastSeq: row.last_seq as number,
    noticeSeq: row.notice_seq as number,
  };
}
