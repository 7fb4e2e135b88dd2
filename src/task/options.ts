import type { Log } from "../log/log.ts";
import type { SessionId } from "../model/entry.ts";
import { invalidArgument } from "../model/errors.ts";
import type { Census, Scope } from "../model/scope.ts";
import type { AfterStep, Isolation, NoticeChannel } from "./after-end.ts";
import type { Agent, AgentFunction } from "./agent.ts";
import type { Fence } from "./fenced-log.ts";
import type { TaskLimits } from "./limits.ts";
import type { Summariser } from "./summariser.ts";
import type { Timer } from "./timer.ts";

/** What a supervisor may be told; everything has a default. */
export interface TaskOptions {
  readonly limits?: Partial<TaskLimits>;
  /** The repository that worktrees are made of where a start names none; the folder of this process by default. */
  readonly repository?: string;
  /** Ways to keep tasks apart besides "worktree", or instead of it. */
  readonly isolations?: Readonly<Record<string, Isolation>>;
  /** Slow work after each end, in this order, before the notice; what crashed processes left running is ended first. */
  readonly afterEnd?: readonly AfterStep[];
  /** Ways out of the process for notices. */
  readonly channels?: readonly NoticeChannel[];
  readonly summariser?: Summariser;
  /** What becomes of background tasks that can be resumed when the supervisor closes; "kill" by default. */
  readonly onClose?: "kill" | "release";
  /** Collect stale places, as worktrees, of ended tasks in the background while there are tasks; true by default. */
  readonly collectsStale?: boolean;
  /** Clean up on SIGINT, SIGTERM and SIGHUP while there are tasks; true by default. */
  readonly handlesSignals?: boolean;
  readonly timer?: Timer;
  readonly onWarning?: (warning: string) => void;
}

/** What a supervisor gets from its host. */
export interface TaskParts<OpenedSession> extends TaskOptions {
  readonly log: Log;
  readonly census: Census;
  /** See log/owner.ts. */
  readonly owner: string;
  readonly openSession: (id: SessionId, scope: Scope, fence: Fence) => Promise<OpenedSession>;
}

/** What can be started: an agent, its function alone, or the name of one. */
export type Startable<OpenedSession> = Agent<OpenedSession> | AgentFunction<OpenedSession> | string;

/** Returns the name if it can name an agent, else throws ARGUMENT_INVALID. */
export function checkAgentName(name: string): string {
  if (typeof name === "string" && name.length >= 1 && name.length <= 256) return name;
  throw invalidArgument("agent.name", name, "1 to 256 characters");
}

/** The agent that is meant, of those known by name; undefined if it is a name that is not known. */
export function agentOf<OpenedSession>(
  which: Startable<OpenedSession>,
  agents: ReadonlyMap<string, Agent<OpenedSession>>,
): Agent<OpenedSession> | undefined {
  if (typeof which === "string") return agents.get(checkAgentName(which));
  if (typeof which === "function") return { name: which.name || "agent", run: which };
  if (typeof which?.run !== "function")
    throw invalidArgument("agent", which, "an agent, its function, or its name");
  checkAgentName(which.name);
  return which;
}
