import type { TaskStore } from "../log/store/task-store.ts";
import { isLonghaulError } from "../model/errors.ts";
import type { Closable } from "../model/lifetime.ts";
import { isTerminal, type TaskId } from "../model/task.ts";
import type { Isolation } from "./after-end.ts";
import { repeatAtInterval } from "./repeat-at-interval.ts";
import type { TaskLimits } from "./task-options.ts";
import type { Timer } from "./timer.ts";

/** Dependencies of a `StaleCollector`. */
interface StaleCollectorDeps {
  readonly isolations: Readonly<Record<string, Isolation>>;
  readonly tasks: TaskStore;
  readonly timer: Timer;
  readonly limits: Pick<TaskLimits, "collectMs" | "staleMs">;
  /** Whether this process runs the task or cleans up after it. */
  readonly isBusyWith: (id: TaskId) => boolean;
  /** The tag that processes of a task of this store carry. */
  readonly tagOf: (id: TaskId) => Promise<string>;
  readonly onWarning: (warning: string) => void;
}

/** Shorter-lived processes collect nothing. */
const FIRST_MS = 60_000;

/** Collects the places of ended tasks in the background: soon after the first task, then at intervals. */
export class StaleCollector implements Closable {
  readonly #deps: StaleCollectorDeps;
  readonly #stop = new AbortController();
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: StaleCollectorDeps) {
    this.#deps = parts;
  }

  /** Starts collecting; idempotent. */
  start(): void {
    if (this.#cancel || this.#stop.signal.aborted) return;
    const { timer, limits, onWarning } = this.#deps;
    const firstMs = Math.min(FIRST_MS, limits.collectMs);
    const warn = (error: unknown) => onWarning(`Collecting stale places failed: ${error}`);
    this.#cancel = repeatAtInterval(timer, limits.collectMs, () => this.#collect(), warn, firstMs);
  }

  /** Stops collecting; resolves when no collection is running. Idempotent. */
  async close(): Promise<void> {
    this.#cancel?.();
    this.#stop.abort();
    await this.#running;
  }

  #collect(): Promise<void> {
    this.#running = this.#collectAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #collectAll(): Promise<void> {
    const { isolations, limits, onWarning } = this.#deps;
    const { signal } = this.#stop;
    const isNeeded = (task: TaskId, tag: string | undefined) => this.#isNeeded(task, tag);
    for (const [name, isolation] of Object.entries(isolations)) {
      try {
        await isolation.collectStale?.({ isNeeded, olderThanMs: limits.staleMs, signal });
      } catch (error) {
        if (signal.aborted || isLonghaulError(error, "ABORTED")) return;
        onWarning(`Collecting stale places of the isolation ${JSON.stringify(name)} failed: ${error}`);
      }
    }
  }

  /** Leaves places of other stores alone: only the owning store knows whether the task will be resumed. */
  async #isNeeded(id: TaskId, tag: string | undefined): Promise<boolean> {
    const { tasks, isBusyWith, tagOf } = this.#deps;
    if (isBusyWith(id) || tag !== (await tagOf(id))) return true;
    const task = await tasks.get(id);
    return task !== undefined && (!isTerminal(task.state) || task.notice === "due");
  }
}
