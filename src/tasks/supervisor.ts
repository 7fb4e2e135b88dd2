import { randomBytes } from "node:crypto";
import type { Store } from "../log/store/store.ts";
import type { TaskRecord, TaskStore } from "../log/store/task-store.ts";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Clock } from "../model/clock.ts";
import { checkSessionId } from "../model/entry.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { isTerminal, type TaskId, type TaskNotice } from "../model/task.ts";
import type { Agent } from "./agent.ts";
import type { AgentDriver } from "./agent-driver.ts";
import { startChildTask, stopChildren } from "./children.ts";
import { Finisher } from "./finisher.ts";
import { Journal } from "./journal.ts";
import { OwnerLease } from "./owner-lease.ts";
import { processCleanups } from "./process/cleanups.ts";
import { buildTaskTag } from "./process/process-tags.ts";
import { repeatAtInterval } from "./repeat-at-interval.ts";
import { Runner } from "./runner.ts";
import { safeListener } from "./safe-listener.ts";
import { StaleCollector } from "./stale-collector.ts";
import type { StartOptions, TaskHandle } from "./start-options.ts";
import { type RecoveryCounts, Sweeper } from "./sweeper.ts";
import { checkBudgetPrice } from "./task-budget.ts";
import {
  createTaskLimitError,
  resolveAgent,
  resolveTaskLimits,
  type Startable,
  type TaskDeps,
  type TaskLimits,
} from "./task-options.ts";
import { buildTaskPlan } from "./task-plan.ts";
import { EMPTY_PROGRESS } from "./task-progress.ts";
import { TaskRun } from "./task-run.ts";
import { runWithDeadline, systemTimer, type Timer } from "./timer.ts";

/**
 * Owns the tasks of one process: starts and ends them, handles requests of other processes, renews the lease, and takes
 * over tasks of dead owners.
 */
export class Supervisor<OpenedSession> {
  readonly limits: TaskLimits;
  readonly timer: Timer;
  readonly runner: Runner<OpenedSession>;
  readonly agents = new Map<string, Agent<OpenedSession>>();
  readonly #deps: TaskDeps<OpenedSession>;
  readonly #journal: Journal;
  readonly #queue: RunQueue<OpenedSession>;
  readonly #sweeper: Sweeper<OpenedSession>;
  readonly #lease: OwnerLease;
  readonly #collector: StaleCollector;
  readonly #warn: (warning: string) => void;
  readonly #stop = new AbortController();
  #cancelRequests: (() => void) | undefined;
  #cancelSweeps: (() => void) | undefined;
  #sweeping: Promise<RecoveryCounts> | undefined;
  #unregister: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    parts: TaskDeps<OpenedSession>,
    onNotice: (notice: TaskNotice) => void,
    handleOf: (task: TaskRecord) => TaskHandle,
  ) {
    const { log, census, owner, modelFacts = () => undefined, isolations = {} } = parts;
    const onWarning = safeListener(parts.onWarning);
    const { timer = systemTimer, afterEnd: steps = [], channels = [] } = parts;
    const limits = resolveTaskLimits(parts.limits);
    const stop = this.#stop.signal;
    const journal = new Journal(log);
    this.#deps = parts;
    this.limits = limits;
    this.timer = timer;
    this.#journal = journal;
    this.#warn = onWarning;
    const tagOf = (id: TaskId) => this.tagOf(id);
    const common = { log, journal, timer, isolations, stop, onWarning, owner, limits, modelFacts, tagOf };
    const finisher = new Finisher({ ...common, steps, channels, stepMs: limits.stepMs, onNotice });
    const killChildren = (parent: TaskId) =>
      stopChildren(log.store.tasks, parent, (child) => this.kill(child, "parent"));
    this.runner = new Runner({
      ...common,
      finisher,
      census,
      ...dropUndefined({ summariser: parts.summariser }),
      openSession: parts.openSession,
      startChild:
        (run, shell) =>
        async (which, input, options = {}) =>
          handleOf(await this.#startChild(run, shell, which, input, options)),
      stopChildren: killChildren,
      onLeave: (run) => this.#queue.leave(run.task.id),
    });
    this.#queue = new RunQueue(limits.maxRunning, (run) => this.runner.begin(run));
    // If the lease was renewed late, other processes may have taken tasks over.
    const onLate = () =>
      void this.runner.check().catch((error) => onWarning(`Looking after tasks failed: ${error}`));
    this.#lease = new OwnerLease({
      ...common,
      store: log.store,
      clock: log.clock,
      leaseMs: limits.leaseMs,
      onLate,
    });
    const isBusyWith = (id: TaskId) => this.runner.isBusyWith(id);
    this.#collector = new StaleCollector({ ...common, tasks: log.store.tasks, isBusyWith });
    this.#sweeper = new Sweeper({
      ...common,
      finisher,
      agents: this.agents,
      isBusyWith,
      hasRoom: ({ parent }) => !this.#isClosing && (parent !== undefined || this.#queue.hasRoom),
      isBack: () => this.#lease.isBack,
      hold: () => this.hold(),
      resume: (run) => this.#resume(run),
      track: (id, work) => this.runner.track(id, work),
      stopChildren: killChildren,
    });
  }

  /** Creates a task and runs or queues it; resolves when the task is in the log. */
  async start(
    which: Startable<OpenedSession>,
    input: Json,
    options: StartOptions,
    parent?: { readonly task: TaskRecord; readonly epoch: number },
  ): Promise<TaskRecord> {
    const { log, owner, isolations = {}, repository } = this.#deps;
    checkFields("options", options, { signal: "signal?" });
    const agent = resolveAgent(which, this.agents);
    checkBudgetPrice(options.budget, agent?.model, this.#deps.modelFacts ?? (() => undefined));
    const id = checkSessionId(options.id ?? log.ids.next());
    if (options.signal?.aborted) throw new LonghaulError("ABORTED", "The task was aborted before it began.");
    const name = agent?.name ?? (which as string);
    const fence = parent && { parentEpoch: parent.epoch };
    const now = log.clock.now();
    const { plan, session } = buildTaskPlan({
      id,
      agent: name,
      input,
      options,
      now,
      isolations,
      ...dropUndefined({ repository }),
      ...(parent && { parent: parent.task }),
    });
    if (plan.queue !== undefined) {
      await this.openDelivery();
      await log.store.delivery?.prepare(plan.queue, name);
      const canResume = agent?.canResume ?? true;
      return this.#journal.create({ id, plan, session, canResume, isRunning: false, ...fence });
    }
    if (!agent) {
      if (plan.mode === "foreground")
        throw createArgumentError("agent", name, "an agent that is known here, to run it in the foreground");
      return this.#journal.create({ id, plan, session, canResume: true, isRunning: false, ...fence });
    }
    if (this.runner.runs.size >= this.limits.maxTasks) throw createTaskLimitError(this.limits.maxTasks);
    await this.hold();
    const isRunning = plan.parent !== undefined || this.#queue.hasRoom;
    if (isRunning) this.#queue.enter(id, plan.parent);
    const canResume = agent.canResume ?? false;
    const making = { id, plan, session, owner, canResume, isRunning, ...fence };
    const task = await this.#journal.create(making).catch((error) => {
      this.#queue.leave(id);
      throw error;
    });
    const run = new TaskRun(agent, task, { ...EMPTY_PROGRESS, plan }, "start");
    this.runner.adopt(run);
    abortWithCaller(this.runner, run, options.signal);
    if (this.#isClosing) {
      await this.runner.settle(run, "kill", { state: "killed", reason: "closed" });
    } else if (isRunning) {
      this.runner.launch(run);
    } else {
      this.#queue.wait(run);
    }
    return task;
  }

  /**
   * Ends a task of this process or of a dead owner at once; requests a kill from any other owner. Resolves when the
   * task has ended or the request is stored.
   */
  async kill(id: TaskId, reason: string): Promise<void> {
    const run = this.runner.runs.get(id);
    if (run) await this.runner.settle(run, "kill", { state: "killed", reason });
    if (run?.outcome) return;
    const { tasks } = this.#deps.log.store;
    const task = await tasks.get(id);
    if (!task || isTerminal(task.state)) return;
    // A task of this process that is not running was given up, for example after a store error.
    const isStray = task.owner === this.#deps.owner && !this.runner.isBusyWith(id);
    const isOrphan = isStray || (await this.#sweeper.isOrphan(task));
    if (isOrphan && (await this.#sweeper.settleOrphan(task, "kill", { state: "killed", reason }))) return;
    await tasks.request(id, "kill", reason);
  }

  /** Claims the lease before this process owns a task; then starts to poll requests and to sweep for orphans. */
  async hold(): Promise<void> {
    if (this.#isClosing) return;
    await resolveStoreId(this.#deps.log.store, this.#deps.log.clock);
    await this.#lease.hold();
    if (this.#cancelSweeps || this.#isClosing) return;
    const { log, owner } = this.#deps;
    const warn = (error: unknown) => this.#warn(`Looking after tasks failed: ${error}`);
    const wishes = { runner: this.runner, tasks: log.store.tasks, owner, onWarning: this.#warn };
    this.#cancelSweeps = repeatAtInterval(this.timer, this.limits.leaseMs / 2, () => this.sweep(), warn, 0);
    this.#cancelRequests = repeatAtInterval(
      this.timer,
      this.limits.wishMs,
      () => handleRequests(wishes),
      warn,
    );
    if (this.#deps.collectsStale !== false) this.#collector.start();
    if (this.#deps.handlesSignals !== false)
      this.#unregister = processCleanups().add(
        (reason) => (reason === "beforeExit" ? this.#rest() : this.close()),
        { graceMs: this.limits.graceMs + 1_000, onExit: () => undefined },
      );
  }

  /** Connects to the delivery of queues, where the store has one. */
  async openDelivery(): Promise<void> {
    await this.#deps.log.store.delivery?.open({ leaseMs: this.limits.leaseMs, onWarning: this.#warn });
  }

  /** Runs or ends a task that a queue has delivered; see `Sweeper.takeUp`. */
  takeUp(id: TaskId): Promise<"here" | "over" | "elsewhere"> {
    return this.#isClosing ? Promise.resolve("elsewhere") : this.#sweeper.takeUp(id);
  }

  /** The tag that processes of a task carry. */
  async tagOf(id: TaskId): Promise<string> {
    const { store, clock } = this.#deps.log;
    return buildTaskTag(checkKind("task", id, "text"), await resolveStoreId(store, clock));
  }

  /** Recovers tasks that no process runs; concurrent calls share one sweep. */
  sweep(): Promise<RecoveryCounts> {
    this.#sweeping ??= this.runner
      .check()
      .then(() => this.#sweeper.sweep())
      .finally(() => {
        this.#sweeping = undefined;
      });
    return this.#sweeping;
  }

  /** Ends running tasks, then waits for cleanup up to `graceMs`; the next owner does the rest. */
  close(): Promise<void> {
    // Deferred, because the tasks it ends may call close() themselves.
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  /** Fires once the supervisor is closed; unfinished tasks no longer end in this process. */
  get closed(): AbortSignal {
    return this.#stop.signal;
  }

  get #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Ends the tasks of a process that has nothing left to do. Only `close` closes: a process that continues after all
   * runs later tasks as before.
   */
  async #rest(): Promise<void> {
    this.#cancelSweeps?.();
    this.#cancelSweeps = undefined;
    this.#cancelRequests?.();
    this.#unregister?.();
    await this.#endRuns(() => undefined);
  }

  async #endRuns(before: () => Promise<void> | undefined): Promise<void> {
    const ending = Promise.all([...this.runner.runs.values()].map((run) => this.#end(run)));
    await runWithDeadline(this.timer, this.limits.graceMs, async () => {
      await before();
      await ending;
      await this.runner.waitUntilFinished();
    });
  }

  async #close(): Promise<void> {
    this.#cancelSweeps?.();
    this.#cancelRequests?.();
    await this.#endRuns(() => this.#collector.close());
    this.#stop.abort(new Error("The supervisor of tasks is closed."));
    this.#unregister?.();
    // A lease that cannot be released expires.
    await this.#lease.close().catch((error) => this.#warn(`The lease was not given back: ${error}`));
  }

  #end(run: TaskRun<OpenedSession>): Promise<void> {
    const isShared = this.#deps.onClose === "release" || run.task.queue !== undefined;
    const isReleased = isShared && run.agent.canResume === true && run.task.mode === "background";
    return isReleased
      ? this.runner.release(run)
      : this.runner.settle(run, "kill", { state: "killed", reason: "closed" });
  }

  #resume(run: TaskRun<OpenedSession>): void {
    this.#queue.enter(run.task.id, run.task.parent);
    this.runner.adopt(run);
    this.runner.launch(run);
  }

  async #startChild(
    run: TaskRun<OpenedSession>,
    shell: AgentDriver,
    which: Startable<OpenedSession>,
    input: Json,
    options: StartOptions,
  ): Promise<TaskRecord> {
    run.mayHaveChildren = true;
    return startChildTask(run.task.id, shell, (epoch) =>
      this.start(which, input, options, { task: run.task, epoch }),
    );
  }
}

/** Kills a foreground task when its caller's signal fires while the caller waits. */
function abortWithCaller<OpenedSession>(
  runner: Runner<OpenedSession>,
  run: TaskRun<OpenedSession>,
  signal: AbortSignal | undefined,
): void {
  if (!signal || run.task.mode !== "foreground") return;
  const abort = () => void runner.settle(run, "kill", { state: "killed", reason: "aborted" });
  signal.addEventListener("abort", abort);
  run.releaseCaller = () => signal.removeEventListener("abort", abort);
  if (signal.aborted) abort();
}

/** Dependencies of `handleRequests`. */
interface HandleRequestsDeps<OpenedSession> {
  readonly runner: Runner<OpenedSession>;
  readonly tasks: TaskStore;
  readonly owner: string;
  readonly onWarning?: (warning: string) => void;
}

/** Carries out the requests of other processes for tasks that run here: kill, or move to the background. */
async function handleRequests<OpenedSession>(parts: HandleRequestsDeps<OpenedSession>): Promise<void> {
  const { runner, tasks, owner, onWarning = () => undefined } = parts;
  if (runner.runs.size === 0) return;
  for (const { id, wish, wishReason, epoch } of await tasks.listRequested(owner)) {
    const run = runner.runs.get(id);
    if (!run) continue;
    if (wish === "kill") void runner.settle(run, "kill", { state: "killed", reason: wishReason ?? "asked" });
    else if (run.task.mode === "foreground")
      runner.detach(run).catch((error) => onWarning(`Task ${id} was not moved to the background: ${error}`));
    else await tasks.change({ id, expect: { epoch }, set: { wish: undefined } }).catch(() => undefined);
  }
}

/** A lease that is claimed once and never released; its owner is the id of the store. */
const STORE_ID_LEASE = "identity of the store";

const idsByStore = new WeakMap<Store, Promise<string>>();

/** The id of a store, the same in every process that opens it; created on first use. */
function resolveStoreId(store: Store, clock: Clock): Promise<string> {
  let identity = idsByStore.get(store);
  if (!identity) {
    identity = claimStoreId(store, clock).catch((error) => {
      idsByStore.delete(store);
      throw error;
    });
    idsByStore.set(store, identity);
  }
  return identity;
}

async function claimStoreId({ leases }: Store, clock: Clock): Promise<string> {
  const former = await leases.get(STORE_ID_LEASE);
  if (former) return former.owner;
  const owner = randomBytes(6).toString("hex");
  const first = await leases.claim(
    { name: STORE_ID_LEASE, owner, expiresAt: Number.MAX_SAFE_INTEGER },
    clock.now(),
  );
  return first?.owner ?? owner;
}

/**
 * Limits how many tasks without a parent run at once; others wait in order. Children never wait, because their
 * parents may wait for them.
 */
class RunQueue<OpenedSession> {
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
