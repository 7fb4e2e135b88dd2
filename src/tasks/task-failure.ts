import { dropUndefined } from "../model/base/drop-undefined.ts";
import { LonghaulError } from "../model/errors.ts";
import type { TaskStatus } from "./start-options.ts";

/** The end of a task that was waited for. */
export type TaskResult = TaskStatus & {
  /** TASK_FAILED if the task failed or was killed; its cause is the error of the agent. */
  readonly error?: LonghaulError;
};

/** The status with an error if the task failed or was killed; `thrown` is the error of its agent. */
export function withFailure(status: TaskStatus, thrown: unknown): TaskResult {
  const { id, state, outcome } = status;
  if (state !== "failed" && state !== "killed") return status;
  const reason = outcome?.reason ?? "error";
  const why = outcome?.error ?? reason;
  const error = new LonghaulError("TASK_FAILED", `Task ${JSON.stringify(id)} ${describe(state)}: ${why}`, {
    details: { task: id, state, reason },
    ...dropUndefined({ cause: thrown }),
  });
  return { ...status, error };
}

function describe(state: "failed" | "killed"): string {
  return state === "failed" ? "failed" : "was killed";
}
