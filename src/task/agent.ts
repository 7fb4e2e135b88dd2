import type { Json } from "../model/json.ts";
import type { MessageInput } from "../model/message.ts";
import type { Scope } from "../model/scope.ts";
import type { AgentNote, TaskId, TaskMode, TaskSpent } from "../model/task.ts";
import type { Usage } from "../model/usage.ts";
import type { TaskRecord } from "../store/task-store.ts";
import type { StartOptions, TaskHandle } from "./start-options.ts";

/** What an agent says; each is in the log before the next one is asked for. */
export type AgentEvent =
  | AgentNote
  | { readonly type: "message"; readonly message: MessageInput }
  | {
      readonly type: "usage";
      readonly usage: Usage;
      readonly model?: string;
      readonly provider?: string;
      /** Kept with the entry, beside the name of the task. */
      readonly meta?: { readonly [key: string]: Json };
    };

/** Why an agent's function was called: the task began, moved to the background, or is taken up after a crash. */
export type AgentCause = "start" | "detach" | "resume";

/** What an agent gets. `OpenedSession` is whatever the host calls a session. */
export interface AgentContext<OpenedSession = unknown> {
  readonly task: TaskId;
  /** What processes of the task are to carry, so that they are found and ended with it: the `tag` of `runCommand`. */
  readonly tag: string;
  readonly input: Json;
  readonly cause: AgentCause;
  readonly mode: TaskMode;
  /** The last checkpoint, where there is one. */
  readonly checkpoint?: Json;
  /** Where it works, if it is isolated: what the isolation has made. */
  readonly place?: Json;
  /** Fires when the task is to stop; after it nothing more is written. */
  readonly signal: AbortSignal;
  /** Owns what the agent opens; closed when this call of the agent is over, however that comes. */
  readonly scope: Scope;
  /** The session that the task works in, opened when first asked for. */
  session(): Promise<OpenedSession>;
  /** What the task has used up. */
  spent(): TaskSpent;
  /** Starts a child; it is stopped when this task ends. */
  start(
    agent: Agent<OpenedSession> | AgentFunction<OpenedSession> | string,
    input: Json,
    options?: StartOptions,
  ): Promise<TaskHandle>;
  /** Children so far, newest first. */
  children(): Promise<readonly TaskRecord[]>;
}

/** An agent's work: what it yields goes to the log, what it returns is the task's result. */
export type AgentFunction<OpenedSession = unknown> = (
  context: AgentContext<OpenedSession>,
) => AsyncIterable<AgentEvent, unknown>;

/** Something that can be run as a task. */
export interface Agent<OpenedSession = unknown> {
  readonly name: string;
  /**
   * Whether its function can be called again, with another cause, and goes on from the log. Without it a detach hands the
   * running iterator on, and a crash loses the task.
   */
  readonly canResume?: boolean;
  readonly run: AgentFunction<OpenedSession>;
}
