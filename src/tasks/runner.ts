import type { Log } from "../log/log.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { SessionId } from "../model/entry.ts";
import type { Json } from "../model/json.ts";
import type { Census, Closable, Lifetime } from "../model/lifetime.ts";
import type { TaskEvent, TaskId, TaskOutcome, TaskPlan } from "../model/task.ts";
import type { Isolation } from "./after-end.ts";
import type { AgentContext } from "./agent.ts";
import { AgentDriver, type DriveResult } from "./agent-driver.ts";
import type { Fence } from "./fenced-log.ts";
import type { Finisher } from "./finisher.ts";
import type { Journal, MoveExtras } from "./journal.ts";
import { Overrun, OwnershipLostError, recordEvent } from "./record-event.ts";
import { type RetryStoreDeps, retryStore, toErrorMessage } from "./retry-store.ts";
import type { PriceLookup } from "./task-budget.ts";
import type { TaskLimits } from "./task-options.ts";
import type { RunEvent, TaskRun } from "./task-run.ts";
import { startSummary, type TaskSummarizer } from "./task-summarizer.ts";
import { runWithDeadline } from "./timer.ts";

/** Dependencies of a `Runner`. */
interface RunnerDeps<OpenedSession> extends AgentContextDeps<OpenedSession>, Omit<IsolateTaskDeps, "track"> {
  readonly finisher: Finisher;
  readonly modelFacts: PriceLookup;
  readonly census: Census;
  readonly owner: string;
  readonly summariser?: TaskSummarizer;
  /** Stops the children of an ending task. */
  readonly stopChildren: (parent: TaskId) => Promise<void>;
  /** Called when a run has left this process for any reason. */
  readonly onLeave: (run: TaskRun<OpenedSession>) => void;
  /** Fires when the supervisor can wait no longer. */
  readonly stop: AbortSignal;
  readonly onWarning: (warning: string) => void;
}

/**
 * Runs the tasks that this process owns. The first caller that ends a task wins; cleanup runs once afterwards,
 * and nothing waits for it.
 */
export class Runner<OpenedSession> {
  readonly runs = new Map<TaskId, TaskRun<OpenedSession>>();
  readonly #deps: RunnerDeps<OpenedSession>;
  /** Cleanups of tasks that have ended or have another owner. */
  readonly #finishing = new Map<TaskId, Promise<void>>();

  constructor(parts: RunnerDeps<OpenedSession>) {
    this.#deps = parts;
  }

  /** Adds a run without starting it. */
  adopt(run: TaskRun<OpenedSession>): void {
    this.runs.set(run.task.id, run);
    const { deadlineAt } = run.task;
    if (deadlineAt === undefined) return;
    const { timer, log } = this.#deps;
    // Keep the process alive: an agent that waits for nothing but its signal would otherwise be killed before its time.
    const expire = () => void this.#expire(run);
    run.cancelDeadline = timer.after(deadlineAt - log.clock.now(), expire, { keepsAlive: true });
  }

  /** Drops tasks that were taken over or deleted, and ends those whose deadline passed while the machine slept. */
  async check(): Promise<void> {
    const { log, owner } = this.#deps;
    for (const run of [...this.runs.values()]) {
      const task = await log.store.tasks.get(run.task.id);
      if (task?.owner !== owner) this.#lose(run);
      else if (log.clock.now() >= (task.deadlineAt ?? Number.POSITIVE_INFINITY)) void this.#expire(run);
    }
  }

  /** Runs a task of this process that is in state "running". */
  launch(run: TaskRun<OpenedSession>): void {
    this.#runToEnd(run).catch((error) => this.#lose(run, `Task ${run.task.id} was given up: ${error}`));
  }

  /** Moves a queued run to "running" and launches it. */
  async begin(run: TaskRun<OpenedSession>): Promise<void> {
    try {
      if (await this.#move(run, "start", { owner: this.#deps.owner })) this.launch(run);
    } catch (error) {
      this.#lose(run, `Task ${run.task.id} could not be started: ${error}`);
    }
  }

  /** Ends a task; concurrent calls wait for the first. Resolves when the end is in the log. */
  settle(run: TaskRun<OpenedSession>, event: TaskEvent, outcome: TaskOutcome): Promise<void> {
    run.settling ??= this.#settle(run, event, outcome).catch((error) =>
      this.#lose(run, `The end of task ${run.task.id} could not be written: ${error}`),
    );
    return run.settling;
  }

  /** Moves a task to the background; resolves when it is there or has ended. */
  async detach(run: TaskRun<OpenedSession>): Promise<void> {
    if (run.settling) return run.settling;
    if (run.task.mode === "background") return;
    run.detaching ??= this.#detach(run).catch((error) => {
      // The task stays in the foreground, and a later call may try again.
      run.detaching = undefined;
      throw error;
    });
    return run.detaching;
  }

  /** Gives up ownership so that another process can take the task up. */
  async release(run: TaskRun<OpenedSession>): Promise<void> {
    try {
      if (!run.settling && (await this.#move(run, "release", { owner: undefined }))) this.#lose(run);
    } catch (error) {
      this.#lose(run, `Task ${run.task.id} could not be let go: ${error}`);
    }
  }

  /** Tracks work that continues after a task has ended. */
  track(id: TaskId, work: Promise<void>): void {
    const former = this.#finishing.get(id);
    // Catch at once: this work may fail long before the former work is done.
    const heard = work.catch((error) => this.#deps.onWarning(`Clean-up after task ${id} failed: ${error}`));
    const tracked = Promise.all([former, heard]).then(() => {
      if (this.#finishing.get(id) === tracked) this.#finishing.delete(id);
    });
    this.#finishing.set(id, tracked);
  }

  /** Whether this process runs a task or cleans up after it. */
  isBusyWith(id: TaskId): boolean {
    return this.runs.has(id) || this.#finishing.has(id);
  }

  /** Resolves when a task is over for this process: ended and cleaned up, handed back, or taken by another. */
  async waitUntilOver(id: TaskId): Promise<"ended" | "left"> {
    const run = this.runs.get(id);
    const news = run && (await new Promise<RunEvent>((resolve) => this.#listenForEnd(run, resolve)));
    await this.#finishing.get(id);
    return news === "lost" ? "left" : "ended";
  }

  #listenForEnd(run: TaskRun<OpenedSession>, onEnd: (news: RunEvent) => void): void {
    run.listen((news) => news !== "detached" && onEnd(news));
  }

  /** Resolves when no cleanup is left. */
  async waitUntilFinished(): Promise<void> {
    while (this.#finishing.size > 0) await Promise.all(this.#finishing.values());
  }

  async #runToEnd(run: TaskRun<OpenedSession>): Promise<void> {
    for (;;) {
      const end = await this.#drive(run);
      if (end.type === "stopped") return;
      if (end.type === "done")
        return this.settle(run, "complete", {
          state: "completed",
          ...toResult(end.value ?? run.progress.result),
        });
      if (end.type === "threw") return this.#fail(run, end.error);
      if (!(await this.#handOver(run))) return;
    }
  }

  async #drive(run: TaskRun<OpenedSession>): Promise<DriveResult> {
    const { census, timer, limits } = this.#deps;
    let shell = run.driver;
    if (!shell) {
      shell = new AgentDriver(run.task.epoch, census, timer, limits);
      run.driver = shell;
      if (run.settling) return { type: "stopped" };
      try {
        await isolateTask({ ...this.#deps, track: (id, work) => this.track(id, work) }, run, shell);
        const tag = await this.#deps.tagOf(run.task.id);
        if (shell.isStopped) return { type: "stopped" };
        shell.begin(run.agent.run(buildAgentContext(this.#deps, run, shell, tag)));
        shell.replaceSummarizer(this.#startSummary(run));
      } catch (error) {
        return shell.isStopped ? { type: "stopped" } : { type: "threw", error };
      }
    }
    const driven = shell;
    return driven.drive((event) => recordEvent(this.#deps, run, driven, event));
  }

  #startSummary({ task }: TaskRun<OpenedSession>): Closable | undefined {
    const { summariser, journal } = this.#deps;
    return startSummary(summariser, journal, task, this.#deps.onWarning);
  }

  #expire(run: TaskRun<OpenedSession>): Promise<void> {
    const error = "The task took too long.";
    return this.settle(run, "fail", { state: "failed", reason: "deadline", error });
  }

  async #fail(run: TaskRun<OpenedSession>, error: unknown): Promise<void> {
    if (error instanceof OwnershipLostError) return this.#lose(run);
    run.thrown = error;
    const reason = error instanceof Overrun ? error.reason : "error";
    return this.settle(run, "fail", { state: "failed", reason, error: toErrorMessage(error) });
  }

  async #detach(run: TaskRun<OpenedSession>): Promise<void> {
    const { promise: news, resolve } = Promise.withResolvers<void>();
    const unlisten = run.listen(() => resolve());
    try {
      const isQueued = run.task.state === "queued";
      if (!(await this.#move(run, "detach", isQueued ? { mode: "background" } : {})))
        return await run.settling;
      if (run.task.state === "queued") return run.notify("detached");
      run.driver?.detach();
      await news;
    } finally {
      unlisten();
    }
  }

  /**
   * Moves the task to the background: a resumable agent is called again and continues from the log; otherwise the
   * running iterator is handed on.
   */
  async #handOver(run: TaskRun<OpenedSession>): Promise<boolean> {
    const { driver: shell, agent } = run;
    if (agent.canResume) await shell?.close();
    if (!(await this.#move(run, "detached", { mode: "background", owner: this.#deps.owner }))) return false;
    run.cause = "detach";
    if (agent.canResume) run.driver = undefined;
    else shell?.continueUnder(run.task.epoch, this.#startSummary(run));
    run.notify("detached");
    return true;
  }

  /** Writes a move that does not end the task; returns false if the task has ended or has another owner. */
  async #move(run: TaskRun<OpenedSession>, event: TaskEvent, extras: MoveExtras): Promise<boolean> {
    if (run.settling) return false;
    const { journal, stop } = this.#deps;
    const moving = retryStore(this.#deps, stop, run.task.id, () => journal.move(run.task, event, extras));
    const written = moving.then(
      () => undefined,
      () => undefined,
    );
    run.moving = written;
    const { hasMoved, task } = await moving;
    if (run.moving === written) run.moving = undefined;
    if (hasMoved && task) run.task = task;
    else if (!task || task.epoch !== run.task.epoch) this.#lose(run);
    return hasMoved;
  }

  async #settle(run: TaskRun<OpenedSession>, event: TaskEvent, given: TaskOutcome): Promise<void> {
    const { journal, stop, timer, limits, onLeave: left } = this.#deps;
    const isAlone = !run.moving && !run.mayHaveChildren;
    const leaves = isAlone ? undefined : Promise.all([run.moving, this.#stopChildren(run)]);
    // Stop the children first, but end the agent anyway if the store delays that.
    if (leaves) await runWithDeadline(timer, limits.closeMs, () => leaves);
    if (event !== "complete") run.driver?.stop(given.reason ?? given.state);
    await leaves;
    const found = given.result === undefined ? { ...given, ...toResult(run.progress.result) } : given;
    const settling = () => journal.settle(run.task, event, found);
    const { hasMoved, task, outcome } = await retryStore(this.#deps, stop, run.task.id, settling);
    if (!hasMoved || !task) return this.#lose(run);
    run.task = task;
    run.outcome = outcome;
    this.runs.delete(task.id);
    run.notify("settled");
    left(run);
    this.track(task.id, this.#finish(run));
  }

  async #stopChildren({ task, mayHaveChildren }: TaskRun<OpenedSession>): Promise<void> {
    const { stop, stopChildren } = this.#deps;
    if (mayHaveChildren) await retryStore(this.#deps, stop, task.id, () => stopChildren(task.id));
  }

  async #finish(run: TaskRun<OpenedSession>): Promise<void> {
    const { task, outcome, progress: memory } = run;
    await run.driver?.close();
    run.driver = undefined;
    if (!outcome) return;
    // Stops children that were being started when the task ended; an ended task starts no more.
    await this.#stopChildren(run);
    const { stop, tagOf } = this.#deps;
    const tag = await retryStore(this.#deps, stop, task.id, () => tagOf(task.id));
    await this.#deps.finisher.finish(
      { task, outcome, tag, ...dropUndefined({ plan: memory.plan }) },
      memory.place,
    );
  }

  #lose(run: TaskRun<OpenedSession>, warning?: string): void {
    if (warning !== undefined) this.#deps.onWarning(warning);
    if (this.runs.get(run.task.id) !== run) return;
    this.runs.delete(run.task.id);
    run.settling ??= Promise.resolve();
    const { driver: shell } = run;
    run.driver = undefined;
    if (shell) {
      shell.stop("it is run by someone else now");
      this.track(run.task.id, shell.close());
    }
    run.notify("lost");
    this.#deps.onLeave(run);
  }
}

function toResult(result: Json | undefined): Pick<TaskOutcome, "result" | "isResultOmitted"> {
  if (typeof result === "function" || typeof result === "symbol") return { isResultOmitted: true };
  return result === undefined ? {} : { result };
}

/** Dependencies of `buildAgentContext`. */
interface AgentContextDeps<OpenedSession> {
  readonly log: Log;
  readonly openSession: (id: SessionId, lifetime: Lifetime, fence: Fence) => Promise<OpenedSession>;
  readonly startChild: (
    run: TaskRun<OpenedSession>,
    shell: AgentDriver,
  ) => AgentContext<OpenedSession>["start"];
}

/** Builds the context of one agent call. */
function buildAgentContext<OpenedSession>(
  { log, openSession, startChild }: AgentContextDeps<OpenedSession>,
  run: TaskRun<OpenedSession>,
  shell: AgentDriver,
  tag: string,
): AgentContext<OpenedSession> {
  const { task, progress: memory, cause } = run;
  let session: Promise<OpenedSession> | undefined;
  return {
    task: task.id,
    tag,
    input: memory.plan?.input ?? null,
    cause,
    mode: task.mode,
    ...dropUndefined({ checkpoint: memory.checkpoint, place: memory.place }),
    signal: shell.signal,
    lifetime: shell.lifetime,
    scope: shell.lifetime,
    session: () => {
      const fence = { task: task.id, epoch: () => shell.epoch };
      session ??= openSession(task.session, shell.lifetime, fence).catch((error) => {
        // Try again next time: the store may only have been busy.
        session = undefined;
        throw error;
      });
      return session;
    },
    spent: () => run.progress.spent,
    start: startChild(run, shell),
    children: () => log.store.tasks.list({ parent: task.id, limit: 1_000 }),
  };
}

/** Dependencies of `isolateTask`. */
interface IsolateTaskDeps extends RetryStoreDeps {
  readonly journal: Journal;
  readonly limits: TaskLimits;
  readonly isolations: Readonly<Record<string, Isolation>>;
  /** Tracks work that continues after a task has ended. */
  readonly track: (task: TaskId, work: Promise<void>) => void;
  /** The tag that processes of a task carry. */
  readonly tagOf: (task: TaskId) => Promise<string>;
}

/** Creates the place of an isolated task; a place that cannot be recorded is settled at once. */
async function isolateTask(parts: IsolateTaskDeps, run: TaskRun<never>, shell: AgentDriver): Promise<void> {
  const { plan, place } = run.progress;
  if (plan?.isolation === undefined || (run.cause === "detach" && place !== undefined)) return;
  const isolation = parts.isolations[plan.isolation];
  if (!isolation) throw new Error(`The isolation ${plan.isolation} is not known here.`);
  const { timer, limits, track } = parts;
  const limitMs = isolation.limitMs ?? limits.stepMs;
  const begun: Promise<unknown>[] = [];
  const work = createPlace(parts, run, shell, {
    isolation,
    plan,
    limitMs,
    trackWork: (one) => begun.push(one),
  });
  // A stopped task does not wait for the place, but the process does, because unfinished work must be undone.
  const over = Promise.allSettled([work]).then(() => Promise.allSettled(begun));
  const cleaned = runWithDeadline(timer, 2 * limitMs, () => over, shell.signal).then(async () => {
    await runWithDeadline(timer, limits.closeMs, () => over);
  });
  track(run.task.id, cleaned);
  await work;
}

interface PlaceRequest {
  readonly isolation: Isolation;
  readonly plan: TaskPlan;
  readonly limitMs: number;
  /** Registers work that continues even if the task no longer waits for it. */
  readonly trackWork: (work: Promise<unknown>) => void;
}

async function createPlace(
  parts: IsolateTaskDeps,
  run: TaskRun<never>,
  shell: AgentDriver,
  making: PlaceRequest,
): Promise<void> {
  const { timer, journal } = parts;
  const { isolation, plan, limitMs } = making;
  const { id } = run.task;
  const tag = await parts.tagOf(id);
  const settle = (place: Json) =>
    runWithDeadline(timer, limitMs, (signal) => isolation.settle(id, place, signal, tag));
  let preparing: Promise<Json> | undefined;
  const made = await runWithDeadline(timer, limitMs, (signal) => {
    preparing = isolation.prepare(id, plan, AbortSignal.any([signal, shell.signal]), tag);
    return preparing;
  });
  if (made.type === "late") {
    if (preparing) making.trackWork(preparing.then(settle));
    throw new Error(`The isolation ${plan.isolation} was not ready in time.`);
  }
  if (made.type === "failed") throw made.error;
  try {
    const note = { type: "isolated", place: made.value } as const;
    const items = [{ body: { kind: "task", task: id, note } }] as const;
    await retryStore(parts, shell.signal, id, () => journal.writeEntries(run.task, shell.epoch, items));
  } catch (error) {
    await settle(made.value);
    throw error;
  }
  run.progress = { ...run.progress, place: made.value };
}
