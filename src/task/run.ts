import type { TaskOutcome } from "../model/task.ts";
import type { TaskRecord } from "../store/task-store.ts";
import type { Agent, AgentCause } from "./agent.ts";
import { LoopCounter } from "./loop-guard.ts";
import type { TaskMemory } from "./recall-task.ts";
import type { Shell } from "./shell.ts";

/** What whoever waits is told: the task has ended, it is in the background, or it is no longer ours. */
export type RunNews = "settled" | "detached" | "lost";

/** One task that this process owns and that has not ended. */
export class Run<OpenedSession = unknown> {
  readonly agent: Agent<OpenedSession>;
  readonly loops = new LoopCounter();
  /** As far as we know; the store has the last word. */
  task: TaskRecord;
  memory: TaskMemory;
  cause: AgentCause;
  shell: Shell | undefined;
  outcome: TaskOutcome | undefined;
  /** Set by the first who ends it; everyone else waits for that. */
  settling: Promise<void> | undefined;
  /** Set while another move of it is being written. */
  moving: Promise<void> | undefined;
  /** Set while it is being moved to the background. */
  detaching: Promise<void> | undefined;
  mayHaveChildren: boolean;
  /** Lets the caller of a foreground task go. */
  releaseCaller: () => void = () => undefined;
  /** Takes back what waits for the end: the deadline. */
  cancelDeadline: () => void = () => undefined;
  readonly #listeners = new Set<(news: RunNews) => void>();

  constructor(agent: Agent<OpenedSession>, task: TaskRecord, memory: TaskMemory, cause: AgentCause) {
    this.agent = agent;
    this.task = task;
    this.memory = memory;
    this.cause = cause;
    this.mayHaveChildren = cause === "resume";
  }

  /** Listens until the returned function is called. */
  listen(listener: (news: RunNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells everyone who listens; after the last news nobody does. */
  tell(news: RunNews): void {
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
