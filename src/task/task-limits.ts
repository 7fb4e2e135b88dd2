import { checkNames } from "../model/check-names.ts";
import { checkWholeNumber, LonghaulError } from "../model/errors.ts";

/** Limits of a task supervisor. */
export interface TaskLimits {
  /** Tasks without a parent that run at once; further tasks wait. */
  readonly maxRunning: number;
  /** Tasks that wait or run in this process; further tasks are refused. */
  readonly maxTasks: number;
  /** How long tasks of a dead process may appear to be running. */
  readonly leaseMs: number;
  /** How often requests of other processes are polled. */
  readonly wishMs: number;
  /** For an agent's `finally` blocks when it is stopped. */
  readonly returnMs: number;
  /** For closing the resources that an agent opened. */
  readonly closeMs: number;
  /** For each after-step that has no limit of its own. */
  readonly stepMs: number;
  /** For the whole shutdown when the process ends. */
  readonly graceMs: number;
  /** How often a task may be taken over from dead owners. */
  readonly maxResumes: number;
  /** How long a task waits for a process that knows its agent. */
  readonly abandonMs: number;
  /** How often stale places of ended tasks are collected. */
  readonly collectMs: number;
  /** Minimum time since a place was last used before it is collected. */
  readonly staleMs: number;
}

const DEFAULT_TASK_LIMITS: TaskLimits = {
  maxRunning: 1_000,
  maxTasks: 20_000,
  leaseMs: 30_000,
  wishMs: 500,
  returnMs: 1_000,
  closeMs: 5_000,
  stepMs: 30_000,
  graceMs: 5_000,
  maxResumes: 5,
  abandonMs: 24 * 60 * 60 * 1_000,
  collectMs: 60 * 60 * 1_000,
  staleMs: 24 * 60 * 60 * 1_000,
};

/** The defaults merged with `changes`, checked. */
export function resolveTaskLimits(changes: Partial<TaskLimits> = {}): TaskLimits {
  checkNames("tasks.limits", changes, Object.keys(DEFAULT_TASK_LIMITS));
  const limits = { ...DEFAULT_TASK_LIMITS, ...changes };
  for (const [name, value] of Object.entries(limits))
    checkWholeNumber(`tasks.limits.${name}`, value, name === "maxResumes" ? 0 : 1);
  return limits;
}

/** The error for exceeding `maxTasks`. */
export function createTaskLimitError(maxTasks: number): LonghaulError {
  return new LonghaulError(
    "TASK_LIMIT",
    `${maxTasks} tasks wait or run in this process already; wait for some of them, or raise tasks.limits.maxTasks.`,
    { details: { maxTasks } },
  );
}
