import { LonghaulError, wholeNumber } from "../model/errors.ts";

/** Bounds of a supervisor of tasks. */
export interface TaskLimits {
  /** Tasks without a parent that run at once; more wait. */
  readonly maxRunning: number;
  /** Tasks that wait or run in this process; more are refused. */
  readonly maxTasks: number;
  /** How long a dead process's tasks may seem to be running. */
  readonly leaseMs: number;
  /** How often wishes of other processes are looked for. */
  readonly wishMs: number;
  /** For an agent's `finally` when it is told to stop. */
  readonly returnMs: number;
  /** For closing what an agent has opened. */
  readonly closeMs: number;
  /** For each step after the end, where it has no limit of its own. */
  readonly stepMs: number;
  /** For all of it when the process ends. */
  readonly graceMs: number;
  /** How often a task is taken over from dead owners. */
  readonly maxResumes: number;
  /** How long a task waits for a process that knows its agent. */
  readonly abandonMs: number;
  /** How often stale places of ended tasks are collected. */
  readonly collectMs: number;
  /** How long nobody must have used a place before it is collected. */
  readonly staleMs: number;
}

/** What holds unless the caller says otherwise. */
export const DEFAULT_TASK_LIMITS: TaskLimits = {
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

/** The defaults with the caller's changes, checked. */
export function resolveTaskLimits(changes: Partial<TaskLimits> = {}): TaskLimits {
  const limits = { ...DEFAULT_TASK_LIMITS, ...changes };
  for (const [name, value] of Object.entries(limits))
    wholeNumber(`tasks.${name}`, value, name === "maxResumes" ? 0 : 1);
  return limits;
}

/** The error of one task too many. */
export function tooManyTasks(maxTasks: number): LonghaulError {
  return new LonghaulError(
    "TASK_LIMIT",
    `${maxTasks} tasks wait or run in this process already; wait for some of them, or raise tasks.limits.maxTasks.`,
    { details: { maxTasks } },
  );
}
