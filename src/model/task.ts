import type { Json } from "./json.ts";
import type { SessionId } from "./place.ts";
import type { Usage } from "./usage.ts";

/** Identifies one run of an agent. */
export type TaskId = string;

export const TASK_STATES = ["queued", "running", "detaching", "completed", "failed", "killed"] as const;

export type TaskState = (typeof TASK_STATES)[number];

/** A final state. */
type TerminalState = Extract<TaskState, "completed" | "failed" | "killed">;

/** All events of a task. */
export const TASK_EVENTS = [
  "start",
  "resume",
  "detach",
  "detached",
  "release",
  "complete",
  "fail",
  "kill",
  "lose",
] as const;

export type TaskEvent = (typeof TASK_EVENTS)[number];

/** Whether the caller waits for the task. */
export type TaskMode = "foreground" | "background";

/** Limits on a task's usage. */
export interface TaskBudget {
  /** Input, output and cache tokens together. */
  readonly tokens?: number;
  readonly dollars?: number;
  readonly steps?: number;
}

/** Usage of a task so far. */
export interface TaskUsage {
  readonly tokens: number;
  readonly dollars: number;
  readonly steps: number;
}

/** When identical calls with identical results count as a loop. */
export interface LoopGuard {
  /** Number of repetitions in a row. */
  readonly repeats: number;
  /** True fails the task; otherwise the loop is only logged. */
  readonly isStopping: boolean;
}

/** Settings of a task, fixed at creation and stored in its first entry. */
export interface TaskPlan {
  readonly agent: string;
  readonly input: Json;
  readonly mode: TaskMode;
  readonly title?: string;
  readonly parent?: TaskId;
  readonly parentSession?: SessionId;
  readonly isolation?: string;
  /**
   * Repository for the isolation's worktree: an absolute path, so that it is the same for the
   * process that resumes the task.
   */
  readonly repository?: string;
  readonly deadlineAt?: number;
  readonly budget?: TaskBudget;
  readonly loopGuard?: LoopGuard;
  /** The queue in which the task waits for a worker. */
  readonly queue?: string;
  /** The person on whose behalf a task of a queue runs. */
  readonly person?: string;
}

export interface TaskOutcome {
  readonly state: TerminalState;
  /** Why it did not complete: error, budget, deadline, loop, lost, asked, closed, parent, or a word of the caller. */
  readonly reason?: string;
  /** The error's message. */
  readonly error?: string;
  /** Its return value; if the task did not complete, its last partial result. */
  readonly result?: Json;
  /** The result could not be stored: too large, or not JSON. */
  readonly isResultOmitted?: true;
}

/** The single message that is sent when a task has ended. */
export interface TaskNotice extends TaskOutcome {
  /** The same on every delivery. */
  readonly id: string;
  readonly task: TaskId;
  readonly agent: string;
  readonly title?: string;
  readonly session: SessionId;
  readonly settledAt: number;
  /** Results of the after-steps by name, such as a worktree verdict or a check of the result. */
  readonly facts?: { readonly [step: string]: Json };
}

/** Content of one task entry. */
export type TaskNote =
  | { readonly type: "created"; readonly plan: TaskPlan }
  | {
      readonly type: "moved";
      readonly event: TaskEvent;
      readonly from: TaskState;
      readonly to: TaskState;
      /** Counts the changes of ownership; see docs/tasks.md. */
      readonly epoch: number;
      readonly owner?: string;
      readonly mode?: TaskMode;
      readonly outcome?: TaskOutcome;
    }
  | { readonly type: "isolated"; readonly place: Json }
  | AgentNote
  | { readonly type: "loop"; readonly call: string; readonly repeats: number }
  | { readonly type: "notice"; readonly notice: TaskNotice };

/** Agent output other than messages and usage. */
export type AgentNote =
  /** Output for observers; for a program, `stream` marks standard error. */
  | { readonly type: "output"; readonly text: string; readonly stream?: "stderr" }
  /** A tool call with its result, which the loop guard compares with earlier ones. */
  | { readonly type: "call"; readonly name: string; readonly arguments: Json; readonly result: Json }
  /** Uses one step of the budget. */
  | { readonly type: "step" }
  /** A partial result; the last one is the result of a task that returns nothing. */
  | { readonly type: "result"; readonly value: Json }
  /** State to continue from after a crash or a detach. */
  | { readonly type: "checkpoint"; readonly value: Json }
  /** The current activity in one sentence. */
  | { readonly type: "summary"; readonly text: string };

/** Sum of all token counts of a usage report. */
export function countUsageTokens(usage: Usage): number {
  let tokens = 0;
  for (const call of [usage, ...(usage.otherCalls ?? [])]) {
    const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = call;
    tokens += inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  }
  return tokens;
}

export function isTerminal(state: TaskState): state is TerminalState {
  return state === "completed" || state === "failed" || state === "killed";
}
