import type { TaskRecord } from "../log/store/task-store.ts";
import type { TaskOutcome } from "../model/task.ts";
import type { Agent, AgentCause } from "./agent.ts";
import type { AgentDriver } from "./agent-driver.ts";
import { LoopCounter } from "./loop-guard.ts";
import type { TaskProgress } from "./task-progress.ts";

/** Event for waiting callers: the task has ended, moved to the background, or has another owner. */
export type RunEvent = "settled" | "detached" | "lost";

/** An unfinished task that this process owns. */
export class TaskRun<OpenedSession = unknown> {
  readonly agent: Agent<OpenedSession>;
  readonly loops = new LoopCounter();
  /** Last known record; the store is authoritative. */
  task: TaskRecord;
  progress: TaskProgress;
  cause: AgentCause;
  driver: AgentDriver | undefined;
  outcome: TaskOutcome | undefined;
  /** The error of the agent, if it failed. */
  thrown: unknown;
  /** Set by the first caller that ends the task; later callers wait for it. */
  settling: Promise<void> | undefined;
  /** Set while another move is being written. */
  moving: Promise<void> | undefined;
  /** Set while the task moves to the background. */
  detaching: Promise<void> | undefined;
  mayHaveChildren: boolean;
  /** Stops listening to the signal of a foreground task's caller. */
  releaseCaller: () => void = () => undefined;
  /** Cancels the deadline timer. */
  cancelDeadline: () => void = () => undefined;
  readonly #listeners = new Set<(news: RunEvent) => void>();

  constructor(agent: Agent<OpenedSession>, task: TaskRecord, memory: TaskProgress, cause: AgentCause) {
    this.agent = agent;
    this.task = task;
    this.progress = memory;
    this.cause = cause;
    this.mayHaveChildren = cause === "resume";
  }

  /** Adds a listener; returns a function that removes it. */
  listen(listener: (news: RunEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies all listeners; "settled" and "lost" are final and remove them. */
  notify(news: RunEvent): void {
    const listeners = [...this.#listeners];
    this.releaseCaller();
    this.releaseCaller = () => undefined;
    if (news !== "detached") {
      this.#listeners.clear();
      this.cancelDeadline();
    }
    for (const listener of listeners) listener(news);
  }
}
