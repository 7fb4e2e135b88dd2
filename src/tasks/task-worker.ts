import type { Store } from "../log/store/store.ts";
import type { Delivery, DeliveryRequest, TaskDelivery } from "../log/store/task-delivery.ts";
import { repeatAtInterval } from "./repeat-at-interval.ts";
import type { Supervisor } from "./supervisor.ts";
import { runWithDeadline, type Timer } from "./timer.ts";
import { listWaitingTasks } from "./waiting-tasks.ts";
import type { resolveWorkOptions, WorkEvent } from "./work-options.ts";

/** Dependencies of a `TaskWorker`. */
interface TaskWorkerDeps<OpenedSession> {
  readonly store: Store;
  readonly delivery: TaskDelivery;
  readonly supervisor: Supervisor<OpenedSession>;
  readonly timer: Timer;
  readonly options: ReturnType<typeof resolveWorkOptions>;
  readonly onWarning: (warning: string) => void;
}

/** Longest time between two looks for tasks. */
const LOOK_MS = 2_000;
/** Shortest time between two looks; other commits than new tasks wake a worker too. */
const MIN_LOOK_MS = 250;
const FIRST_DELAY_MS = 2_000;
const MAX_DELAY_MS = 5 * 60_000;
const MEND_PAGE = 500;

/** How a worker is closed. */
interface WorkerCloseOptions {
  /** Time for running tasks that cannot be handed back to end by themselves; 0 by default. They are killed then. */
  readonly graceMs?: number;
}

/** Takes tasks from queues and runs them in this process, a few at a time. */
export class TaskWorker<OpenedSession = unknown> implements AsyncDisposable {
  readonly #deps: TaskWorkerDeps<OpenedSession>;
  readonly #held = new Map<Delivery, Promise<void>>();
  #isRung = false;
  #onRing: () => void = () => undefined;
  #stops: (() => void)[] = [];
  #loop: Promise<void> | undefined;
  #isClosing = false;
  #closed: Promise<void> | undefined;

  constructor(parts: TaskWorkerDeps<OpenedSession>) {
    this.#deps = parts;
  }

  /** Tasks that this worker has in hand. */
  get size(): number {
    return this.#held.size;
  }

  /** Begins to take tasks; resolves when the queues are ready. */
  async start(): Promise<void> {
    const { delivery, supervisor, store, timer, options, onWarning } = this.#deps;
    await supervisor.openDelivery();
    await supervisor.hold();
    for (const queue of options.queues)
      for (const agent of supervisor.agents.keys()) await delivery.prepare(queue, agent);
    await delivery.watch();
    await this.#mend();
    const { leaseMs } = supervisor.limits;
    const warn = (error: unknown) => onWarning(`Looking after delivered tasks failed: ${error}`);
    this.#stops = [
      store.onCommit(() => this.#ring()),
      repeatAtInterval(timer, leaseMs / 3, () => this.#renew(), warn),
      repeatAtInterval(timer, leaseMs, () => this.#mend(), warn),
    ];
    this.#loop = this.#takeTasks();
  }

  /**
   * Takes no more tasks, hands back those that can be resumed, and waits for the others up to `graceMs`; those that
   * still run are killed. Idempotent.
   */
  close({ graceMs = 0 }: WorkerCloseOptions = {}): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#ring();
    await this.#loop;
    const { runner, limits } = this.#deps.supervisor;
    const runs = [...this.#held.keys()].flatMap(({ task }) => runner.runs.get(task) ?? []);
    await Promise.all(runs.filter(({ agent }) => agent.canResume).map((run) => runner.release(run)));
    const wait = (ms: number) =>
      runWithDeadline(this.#deps.timer, ms, () => Promise.all(this.#held.values()).then(() => undefined));
    if (graceMs > 0) await wait(graceMs);
    const rest = [...this.#held.keys()].flatMap(({ task }) => runner.runs.get(task) ?? []);
    await Promise.all(rest.map((run) => runner.settle(run, "kill", { state: "killed", reason: "closed" })));
    await wait(limits.graceMs);
    for (const stop of this.#stops) stop();
  }

  async #takeTasks(): Promise<void> {
    const { delivery, options, onWarning, supervisor } = this.#deps;
    let failures = 0;
    while (!this.#isClosing) {
      try {
        if (this.#held.size < options.concurrency) {
          const request: DeliveryRequest = { ...options, agents: [...supervisor.agents.keys()] };
          const next = await delivery.take(request);
          failures = 0;
          if (next) {
            await this.#begin(next);
            continue;
          }
        }
      } catch (error) {
        if (failures++ === 0) onWarning(`Taking tasks failed, and is tried again: ${error}`);
      }
      await this.#pause();
    }
  }

  /** Waits for a commit of anybody, the end of a task here, or a time. */
  async #pause(): Promise<void> {
    if (this.#isClosing) return;
    const { timer } = this.#deps;
    await new Promise<void>((resolve) => void timer.after(MIN_LOOK_MS, resolve, { keepsAlive: true }));
    if (!this.#isRung && !this.#isClosing)
      await new Promise<void>((resolve) => {
        const cancel = timer.after(LOOK_MS, () => resolve(), { keepsAlive: true });
        this.#onRing = () => {
          cancel();
          resolve();
        };
      });
    this.#isRung = false;
  }

  #ring(): void {
    this.#isRung = true;
    this.#onRing();
  }

  async #begin(next: Delivery): Promise<void> {
    const { delivery, supervisor, onWarning } = this.#deps;
    let place: Awaited<ReturnType<typeof supervisor.takeUp>>;
    try {
      place = await supervisor.takeUp(next.task);
    } catch (error) {
      onWarning(`Task ${next.task} could not be taken, and is tried again: ${error}`);
      place = "elsewhere";
    }
    const work = this.#finish(next, place)
      .catch((error) => onWarning(`The delivery of task ${next.task} was not ended: ${error}`))
      .finally(() => {
        this.#held.delete(next);
        this.#ring();
      });
    this.#held.set(next, work);
    await delivery.confirm(next);
  }

  async #finish(next: Delivery, place: "here" | "over" | "elsewhere"): Promise<void> {
    const { delivery, supervisor } = this.#deps;
    if (place === "over") return delivery.complete(next);
    if (place === "elsewhere")
      return delivery.putBack(next, Math.min(FIRST_DELAY_MS * 2 ** Math.min(next.attempt, 16), MAX_DELAY_MS));
    this.#tell("taken", next);
    const end = await supervisor.runner.waitUntilOver(next.task);
    if (end === "ended") await delivery.complete(next);
    // Given up here, perhaps because of a fault: the next worker looks at its state.
    else await delivery.putBack(next, FIRST_DELAY_MS);
    this.#tell(end, next);
  }

  #tell(type: WorkEvent["type"], { task, queue, agent }: Delivery): void {
    try {
      this.#deps.options.onTask?.({ type, task, queue, agent });
    } catch (error) {
      this.#deps.onWarning(`A listener to tasks failed: ${error}`);
    }
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return;
    const { delivery, supervisor } = this.#deps;
    const deliveries = [...this.#held.keys()];
    const kept = await delivery.renew(deliveries);
    // The state of the tasks says whether others have taken them.
    if (kept.size < deliveries.length) await supervisor.runner.check();
  }

  /** Sends tasks that wait without a delivery, for example since the store was moved. */
  async #mend(): Promise<void> {
    const { store, delivery, options } = this.#deps;
    let page: Parameters<TaskDelivery["mend"]>[0][number][] = [];
    for await (const task of listWaitingTasks(store.tasks, options.queues)) {
      page.push(task);
      if (page.length < MEND_PAGE) continue;
      await delivery.mend(page);
      page = [];
    }
    if (page.length > 0) await delivery.mend(page);
  }
}
