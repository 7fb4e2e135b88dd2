import type { Log } from "../log/log.ts";
import { checkFields } from "../model/argument-checks.ts";
import { checkNames } from "../model/edit-distance.ts";
import type { SessionId } from "../model/entry.ts";
import { checkWholeNumber, createArgumentError, LonghaulError } from "../model/errors.ts";
import type { Census, Lifetime } from "../model/lifetime.ts";
import type { AfterStep, Isolation, NoticeChannel } from "./after-end.ts";
import type { Agent, AgentFunction } from "./agent.ts";
import type { Checkouts } from "./checkouts.ts";
import type { Fence } from "./fenced-log.ts";
import type { PriceLookup } from "./task-budget.ts";
import type { TaskSummarizer } from "./task-summarizer.ts";
import type { Timer } from "./timer.ts";

/** Options of a supervisor; all have defaults. */
export interface TaskOptions {
  readonly limits?: Partial<TaskLimits>;
  /** Repository to create worktrees from when a start names none; defaults to the working directory of this process. */
  readonly repository?: string;
  /** Folders of other machines, and the checkouts here that stand for them in tasks of queues. */
  readonly checkouts?: Checkouts;
  /** Isolations in addition to "worktree", or replacing it. */
  readonly isolations?: Readonly<Record<string, Isolation>>;
  /** After-steps in the order they run before the notice; processes left by a crash are ended first. */
  readonly afterEnd?: readonly AfterStep[];
  /** Channels that deliver notices outside the process. */
  readonly channels?: readonly NoticeChannel[];
  readonly summariser?: TaskSummarizer;
  /** Whether closing the supervisor kills or releases resumable background tasks; "kill" by default. */
  readonly onClose?: "kill" | "release";
  /**
   * Collects stale places of ended tasks, such as worktrees, in the background while there are tasks; true by default.
   */
  readonly collectsStale?: boolean;
  /** Cleans up on SIGINT, SIGTERM and SIGHUP while there are tasks; true by default. */
  readonly handlesSignals?: boolean;
  readonly timer?: Timer;
  readonly onWarning?: (warning: string) => void;
}

const TASK_OPTIONS: Readonly<Record<keyof TaskOptions, true>> = {
  limits: true,
  repository: true,
  checkouts: true,
  isolations: true,
  afterEnd: true,
  channels: true,
  summariser: true,
  onClose: true,
  collectsStale: true,
  handlesSignals: true,
  timer: true,
  onWarning: true,
};

/** Returns the options if all are known and their limits are valid, else throws ARGUMENT_INVALID. */
export function checkTaskOptions(options: TaskOptions = {}): TaskOptions {
  checkNames("tasks", checkFields("tasks", options, { limits: "object?" }), Object.keys(TASK_OPTIONS));
  resolveTaskLimits(options.limits);
  return options;
}

/** Dependencies that the host gives a supervisor. */
export interface TaskDeps<OpenedSession> extends TaskOptions {
  readonly log: Log;
  readonly census: Census;
  /** See model/base/owner.ts. */
  readonly owner: string;
  /** Finds prices, for budgets in dollars; without it none is known. */
  readonly modelFacts?: PriceLookup;
  readonly openSession: (id: SessionId, lifetime: Lifetime, fence: Fence) => Promise<OpenedSession>;
}

/** An agent, only its function, or its registered name. */
export type Startable<OpenedSession> = Agent<OpenedSession> | AgentFunction<OpenedSession> | string;

/** Returns the name if it is a valid agent name, else throws ARGUMENT_INVALID. */
export function checkAgentName(name: string): string {
  if (typeof name === "string" && name.length >= 1 && name.length <= 256) return name;
  throw createArgumentError("agent.name", name, "1 to 256 characters");
}

/** Resolves a startable to an agent; undefined for an unknown name. */
export function resolveAgent<OpenedSession>(
  which: Startable<OpenedSession>,
  agents: ReadonlyMap<string, Agent<OpenedSession>>,
): Agent<OpenedSession> | undefined {
  if (typeof which === "string") return agents.get(checkAgentName(which));
  if (typeof which === "function") return { name: which.name || "agent", run: which };
  if (typeof which?.run !== "function")
    throw createArgumentError("agent", which, "an agent, its function, or its name");
  checkAgentName(which.name);
  return which;
}

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
