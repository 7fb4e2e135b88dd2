import type { Digest } from "../../model/blob.ts";
import type { SessionId } from "../../model/entry.ts";
import { createArgumentError, LonghaulError } from "../../model/errors.ts";
import type { TaskId } from "../../model/task.ts";
import type { IntakeAppend } from "./intake-store.ts";

/** Errors with which every store refuses a call; nothing was changed. */

export function createSessionNotFound(session: SessionId): LonghaulError {
  return new LonghaulError(
    "SESSION_NOT_FOUND",
    `There is no session ${JSON.stringify(session)} in this store; it was never made or has been deleted.`,
    { details: { session } },
  );
}

export function createHasChildren(session: SessionId): LonghaulError {
  return new LonghaulError(
    "SESSION_HAS_CHILDREN",
    `Session ${JSON.stringify(session)} has children or forks; delete those first, or pass { recursive: true }.`,
    { details: { session } },
  );
}

export function createPositionConflict(session: SessionId, expected: number, actual: number): LonghaulError {
  return new LonghaulError(
    "POSITION_CONFLICT",
    `Session ${JSON.stringify(session)} is at ${actual}, not at ${expected}: someone else appended. Read what is new and try again.`,
    { details: { session, expected, actual } },
  );
}

export function createDraftFinished(draft: string): LonghaulError {
  return new LonghaulError(
    "DRAFT_FINISHED",
    `Draft ${draft} is not open any more: it was finished, discarded or taken over as interrupted. Open a new one.`,
    { details: { draft } },
  );
}

/** The refusal of an append that refers to a missing blob. */
export function createBlobMissing(digest: Digest): LonghaulError {
  return new LonghaulError(
    "BLOB_NOT_FOUND",
    `Blob ${digest} is not in this store; append its bytes (a data part) instead of a reference.`,
    { details: { digest } },
  );
}

export function createBlobTooLarge(sizeBytes: number, maxBytes: number): LonghaulError {
  return new LonghaulError(
    "BLOB_TOO_LARGE",
    `The data is larger than ${maxBytes} bytes (stopped at ${sizeBytes}); shrink it or raise maxBlobBytes. Nothing was stored.`,
    { details: { maxBytes } },
  );
}

export function createIntakeConflict(
  intake: string,
  expected: number,
  actual: number | undefined,
): LonghaulError {
  return new LonghaulError(
    "INTAKE_CONFLICT",
    `${JSON.stringify(intake)} is being imported by someone else, or its session was deleted; import it again when that is done.`,
    { details: { intake, expected, actual } },
  );
}

/** The refusal of a record that was imported before, or twice at once, and is not offered as a newer version. */
export function createRecordTaken(intake: string, record: string): LonghaulError {
  return new LonghaulError(
    "INTAKE_CONFLICT",
    `The record ${JSON.stringify(record.slice(0, 80))} of ${JSON.stringify(intake)} is in the session already; leave it out, or mark it as a newer version (replaces).`,
    { details: { intake, record } },
  );
}

/** The first record of an append that it offers twice; undefined if there is none. Newer versions may follow older ones. */
export function findRepeatedRecord({ records }: Pick<IntakeAppend, "records">): string | undefined {
  const seen = new Set<string>();
  for (const record of records) {
    if (record && !record.replaces && seen.has(record.id)) return record.id;
    if (record) seen.add(record.id);
  }
  return undefined;
}

/** `reason` says after the task's id how it differs from the expected. */
export function createTaskConflict(task: TaskId, reason: string): LonghaulError {
  return new LonghaulError("TASK_CONFLICT", `Task ${JSON.stringify(task)} ${reason}; nothing was written.`, {
    details: { task },
  });
}

export function createTaskNotFound(task: TaskId): LonghaulError {
  return new LonghaulError("TASK_NOT_FOUND", `There is no task ${JSON.stringify(task)} in this store.`, {
    details: { task },
  });
}

/** Throws ARGUMENT_INVALID for an amount that no request can cost: one negative number would make a budget rich. */
export function checkBudgetAmounts(amounts: readonly { readonly amount: number }[]): void {
  for (const { amount } of amounts)
    if (!(Number.isFinite(amount) && amount >= 0))
      throw createArgumentError("amount", amount, "a finite number of at least 0");
}
