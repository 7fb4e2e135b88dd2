import type { Json } from "./json.ts";
import type { SessionId } from "./place.ts";
import type { Usage } from "./usage.ts";

/** Names one run of an agent. */
export type TaskId = string;

/** All states of a task. */
export const TASK_STATES = ["queued", "running", "detaching", "completed", "failed", "killed"] as const;

/** Where a task stands. */
export type TaskState = (typeof TASK_STATES)[number];

/** A state that is never left. */
export type TerminalState = Extract<TaskState, "completed" | "failed" | "killed">;

/** All that can happen to a task. */
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

/** What happens to a task. */
export type TaskEvent = (typeof TASK_EVENTS)[number];

/** Whether whoever started the task waits for it. */
export type TaskMode = "foreground" | "background";

/** Most that a task may use up. */
export interface TaskBudget {
  /** Input, output and cache tokens together. */
  readonly tokens?: number;
  readonly dollars?: number;
  readonly steps?: number;
}

/** What a task has used up so far. */
export interface TaskSpent {
  readonly tokens: number;
  readonly dollars: number;
  readonly steps: number;
}

/** When the same call with the same result is taken for a loop. */
export interface LoopGuard {
  /** So many times in a row. */
  readonly repeats: number;
  /** Fail the task then; otherwise the log only says so. */
  readonly isStopping: boolean;
}

/** What is decided when a task is made; kept in its first entry. */
export interface TaskPlan {
  readonly agent: string;
  readonly input: Json;
  readonly mode: TaskMode;
  readonly title?: string;
  readonly parent?: TaskId;
  readonly parentSession?: SessionId;
  readonly isolation?: string;
  /** The repository that an isolation takes its worktree from: a whole path, the same for whoever resumes the task. */
  readonly repository?: string;
  readonly deadlineAt?: number;
  readonly budget?: TaskBudget;
  readonly loopGuard?: LoopGuard;
}

/** How a task ended. */
export interface TaskOutcome {
  readonly state: TerminalState;
  /** Why it did not complete: error, budget, deadline, loop, lost, asked, closed, parent, or a word of the caller. */
  readonly reason?: string;
  /** The error's message. */
  readonly error?: string;
  /** What it has returned; of a task that did not complete, as far as it had come. */
  readonly result?: Json;
  /** The result could not be kept: too large, or no JSON. */
  readonly isResultOmitted?: true;
}

/** The one message that goes out when a task has ended. */
export interface TaskNotice extends TaskOutcome {
  /** The same however often it is delivered. */
  readonly id: string;
  readonly task: TaskId;
  readonly agent: string;
  readonly title?: string;
  readonly session: SessionId;
  readonly settledAt: number;
  /** What the steps after the end have found, by step: a verdict on a worktree, a check of the result. */
  readonly facts?: { readonly [step: string]: Json };
}

/** What one entry of a task says. */
export type TaskNote =
  | { readonly type: "created"; readonly plan: TaskPlan }
  | {
      readonly type: "moved";
      readonly event: TaskEvent;
      readonly from: TaskState;
      readonly to: TaskState;
      /** Counts the changes of who may write; see docs/tasks.md. */
      readonly epoch: number;
      readonly owner?: string;
      readonly mode?: TaskMode;
      readonly outcome?: TaskOutcome;
    }
  | { readonly type: "isolated"; readonly place: Json }
  | AgentNote
  | { readonly type: "loop"; readonly call: string; readonly repeats: number }
  | { readonly type: "notice"; readonly notice: TaskNotice };

/** What an agent can say besides messages and usage. */
export type AgentNote =
  /** Something for whoever reads along; of a program, with the stream where it was not the usual one. */
  | { readonly type: "output"; readonly text: string; readonly stream?: "stderr" }
  /** A tool was called; without a result the call counts for nothing. */
  | { readonly type: "call"; readonly name: string; readonly arguments: Json; readonly result: Json }
  /** One more step of its budget is used up. */
  | { readonly type: "step" }
  /** What it has found so far; the last one is the result of a task that returns nothing else. */
  | { readonly type: "result"; readonly value: Json }
  /** Where to go on after a crash or a detach. */
  | { readonly type: "checkpoint"; readonly value: Json }
  /** What it is doing, in a sentence. */
  | { readonly type: "summary"; readonly text: string };

/** Tokens of a usage report, all kinds together. */
export function tokensOfUsage(usage: Usage): number {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

/** Whether a state is never left. */
export function isTerminal(state: TaskState): state is TerminalState {
  return state === "completed" || state === "failed" || state === "killed";
}
