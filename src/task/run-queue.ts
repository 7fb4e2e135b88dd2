import type { TaskId } from "../model/task.ts";
import type { TaskRun } from "./task-run.ts";

/**
 * Limits how many tasks without a parent run at once; others wait in order. Children never wait, because their
 * parents may wait for them.
 */
export class RunQueue<OpenedSession> {
  readonly #maxRunning: number;
  readonly #begin: (run: TaskRun<OpenedSession>) => Promise<void>;
  readonly #running = new Set<TaskId>();
  #waiting: TaskRun<OpenedSession>[] = [];

  constructor(maxRunning: number, begin: (run: TaskRun<OpenedSession>) => Promise<void>) {
    this.#maxRunning = maxRunning;
    this.#begin = begin;
  }

  get hasRoom(): boolean {
    return this.#running.size < this.#maxRunning;
  }

  /** Takes a slot; children need none. */
  enter(id: TaskId, parent: TaskId | undefined): void {
    if (parent === undefined) this.#running.add(id);
  }

  wait(run: TaskRun<OpenedSession>): void {
    this.#waiting.push(run);
    this.#admit();
  }

  /** Frees a slot and admits the next waiting task. */
  leave(id: TaskId): void {
    if (this.#running.delete(id)) this.#admit();
  }

  #admit(): void {
    let next = 0;
    for (; next < this.#waiting.length && this.hasRoom; next++) {
      const run = this.#waiting[next] as TaskRun<OpenedSession>;
      if (run.settling) continue;
      this.enter(run.task.id, run.task.parent);
      void this.#begin(run);
    }
    if (next > 0) this.#waiting = this.#waiting.slice(next);
  }
}
