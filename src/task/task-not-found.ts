import { LonghaulError } from "../model/errors.ts";
import type { TaskId } from "../model/task.ts";

/** The error for an unknown task. */
export function createTaskNotFoundError(id: TaskId): LonghaulError {
  return new LonghaulError(
    "TASK_NOT_FOUND",
    `There is no task ${JSON.stringify(id)}; it was never made, or its session has been deleted.`,
    { details: { task: id } },
  );
}
