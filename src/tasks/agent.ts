import type { TaskRecord } from "../log/store/task-store.ts";
import type { Json } from "../model/json.ts";
import type { Lifetime } from "../model/lifetime.ts";
import type { MessageInput } from "../model/message.ts";
import type { AgentNote, TaskId, TaskMode, TaskUsage } from "../model/task.ts";
import type { Usage } from "../model/usage.ts";
import type { StartOptions, TaskHandle } from "./start-options.ts";

/** An event that an agent yields; it is logged before the next one is requested. */
export type AgentEvent =
  | AgentNote
  | { readonly type: "message"; readonly message: MessageInput }
  | {
      readonly type: "usage";
      readonly usage: Usage;
      readonly model?: string;
      readonly provider?: string;
      /** Stored with the entry, next to the task's id. */
      readonly meta?: { readonly [key: string]: Json };
    };

/** Why the agent function was called: the task started, moved to the background, or resumed after a crash. */
export type AgentCause = "start" | "detach" | "resume";

/** Input of an agent call. `OpenedSession` is the host's session type. */
export interface AgentContext<OpenedSession = unknown> {
  readonly task: TaskId;
  /** Tag for the task's processes, which end with the task; pass it as `tag` to `runCommand`. */
  readonly tag: string;
  readonly input: Json;
  readonly cause: AgentCause;
  readonly mode: TaskMode;
  /** The last checkpoint, if any. */
  readonly checkpoint?: Json;
  /** The place that the task's isolation created, if the task is isolated. */
  readonly place?: Json;
  /** Fires when the task must stop; nothing is written after that. */
  readonly signal: AbortSignal;
  /** Owns the resources that the agent opens; closed when this call of the agent ends for any reason. */
  readonly lifetime: Lifetime;
  /** The former name of `lifetime`, until the next version. */
  readonly scope: Lifetime;
  /** The session that the task works in; opened on first use. */
  session(): Promise<OpenedSession>;
  /** Tokens, dollars and steps that the task has used. */
  spent(): TaskUsage;
  /** Starts a child task, which is stopped when this task ends. */
  start(
    agent: Agent<OpenedSession> | AgentFunction<OpenedSession> | string,
    input: Json,
    options?: StartOptions,
  ): Promise<TaskHandle>;
  /** Children started so far, newest first. */
  children(): Promise<readonly TaskRecord[]>;
}

/** An agent's work: yielded events go to the log, and the return value is the task's result. */
export type AgentFunction<OpenedSession = unknown> = (
  context: AgentContext<OpenedSession>,
) => AsyncIterable<AgentEvent, unknown>;

/** An agent that can run as a task. */
export interface Agent<OpenedSession = unknown> {
  readonly name: string;
  /**
   * Whether `run` can be called again with another cause and continue from the log. Otherwise a detach hands over the
   * running iterator, and a crash loses the task.
   */
  readonly canResume?: boolean;
  /** The model of usage events that name none; a budget in dollars is refused if its price is not known. */
  readonly model?: string;
  readonly run: AgentFunction<OpenedSession>;
}
