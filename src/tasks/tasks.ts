import type { Store } from "../log/store/store.ts";
import type { TaskQuery, TaskRecord } from "../log/store/task-store.ts";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { checkNames } from "../model/edit-distance.ts";
import { checkWholeNumber, LonghaulError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { Lifetime } from "../model/lifetime.ts";
import { isTerminal, type TaskId, type TaskNotice } from "../model/task.ts";
import type { Agent, AgentFunction } from "./agent.ts";
import { listUnfinishedTasks } from "./children.ts";
import { describeTask, listNotices, sketchTask, type TaskDetails, type TaskSketch } from "./describe-task.ts";
import { PolledDelivery } from "./polled-delivery.ts";
import { safeListener } from "./safe-listener.ts";
import type { StartOptions, TaskHandle, TaskStatus, WaitOptions } from "./start-options.ts";
import { Supervisor } from "./supervisor.ts";
import type { RecoveryCounts } from "./sweeper.ts";
import { type TaskResult, withFailure } from "./task-failure.ts";
import { checkAgentName, type Startable, type TaskDeps } from "./task-options.ts";
import {
  createTaskNotFoundError,
  type OutputOptions,
  readTaskOutput,
  type TaskEntry,
} from "./task-output.ts";
import { readOutcome } from "./task-progress.ts";
import type { RunEvent, TaskRun } from "./task-run.ts";
import { TaskWorker } from "./task-worker.ts";
import type { Timer } from "./timer.ts";
import { resolveWorkOptions, type WorkOptions } from "./work-options.ts";

/** Time to wait for another process to handle a request before the current status is returned. */
const REQUEST_WAIT_MS = 10_000;

const isEnded = (task: TaskRecord) => isTerminal(task.state);

/** Longer than any process lives. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** Runs agents as tasks, and reads the tasks of other processes. */
export class Tasks<OpenedSession = unknown> implements AsyncDisposable {
  readonly #deps: TaskDeps<OpenedSession>;
  readonly #supervisor: Supervisor<OpenedSession>;
  readonly #lifetime: Lifetime;
  readonly #listeners = new Set<(notice: TaskNotice) => void>();
  readonly #workers = new Set<TaskWorker<OpenedSession>>();
  #closed: Promise<void> | undefined;

  constructor(parts: TaskDeps<OpenedSession>) {
    this.#deps = parts;
    this.#lifetime = new Lifetime("tasks", parts.census);
    this.#supervisor = new Supervisor(
      parts,
      (notice) => this.#notifyListeners(notice),
      (task) => this.#createHandle(task),
    );
  }

  /** Registers an agent by name, so that it can be started by name and tasks left by other processes are resumed. */
  register(agent: Agent<OpenedSession>): void {
    this.#lifetime.assertOpen();
    checkFields("agent", agent, { run: "function", canResume: "boolean?" });
    this.#supervisor.agents.set(checkAgentName(agent.name), agent);
  }

  /**
   * Starts a task; resolves when it is in the log. With a name that is not registered here, the task waits for
   * a process that knows it.
   */
  async start(agent: Startable<OpenedSession>, input: Json, options: StartOptions = {}): Promise<TaskHandle> {
    this.#lifetime.assertOpen();
    return this.#createHandle(await this.#supervisor.start(agent, input, options));
  }

  /**
   * Runs a task in the foreground; resolves when it has ended or moved to the background. If it failed or was killed,
   * `error` says why, with the error of its agent as the cause.
   */
  async run(
    agent: Agent<OpenedSession> | AgentFunction<OpenedSession>,
    input: Json,
    options: Omit<StartOptions, "mode"> = {},
  ): Promise<TaskResult> {
    this.#lifetime.assertOpen();
    const task = await this.#supervisor.start(agent, input, { ...options, mode: "foreground" });
    const run = this.#supervisor.runner.runs.get(task.id);
    if (run) await waitForRun(this.#getWaitDeps(), run, {});
    return withFailure(await this.status(task.id), run?.thrown);
  }

  /** A handle on a task, whichever process runs it. */
  async handle(id: TaskId): Promise<TaskHandle> {
    return this.#createHandle(await this.#require(id));
  }

  /** The status of a task; throws TASK_NOT_FOUND if it does not exist. */
  async status(id: TaskId): Promise<TaskStatus> {
    return this.#readStatus(await this.#require(id));
  }

  /** Lists tasks, newest first. */
  async list(query: Partial<TaskQuery> = {}): Promise<readonly TaskRecord[]> {
    this.#lifetime.assertOpen();
    const texts = {
      parent: "text?",
      session: "text?",
      before: "text?",
      queue: "text?",
      person: "text?",
    } as const;
    checkFields("query", query, { states: "array?", ...texts });
    const limit = checkWholeNumber("limit", query.limit ?? 50, 1, 1_000);
    return this.#deps.log.store.tasks.list({ ...query, limit });
  }

  /** A task as lists show it: its status, its plan, and whether a live process runs it. */
  async sketch(id: TaskId): Promise<TaskSketch> {
    return sketchTask(this.#deps.log, await this.#require(id));
  }

  /** A task with its place, usage and notice; throws TASK_NOT_FOUND if it does not exist. */
  async describe(id: TaskId): Promise<TaskDetails> {
    return describeTask(this.#deps.log, await this.#require(id));
  }

  /** The notices of ended tasks, those of the newest tasks first. */
  async notices(
    query: Pick<TaskQuery, "before"> & { readonly limit?: number } = {},
  ): Promise<readonly TaskNotice[]> {
    checkFields("query", query, { before: "text?" });
    const limit = checkWholeNumber("limit", query.limit ?? 50, 1, 1_000);
    return listNotices(this.#deps.log, { ...dropUndefined({ before: query.before }), limit });
  }

  /** Resolves when a task has ended, whichever process runs it; after a timeout, with its current status. */
  async wait(id: TaskId, options: WaitOptions = {}): Promise<TaskStatus> {
    const { timeoutMs } = checkFields("options", options, { signal: "signal?" });
    const until =
      timeoutMs === undefined ? undefined : performance.now() + checkWholeNumber("timeoutMs", timeoutMs, 0);
    const left = () =>
      until === undefined ? options : { ...options, timeoutMs: Math.max(0, until - performance.now()) };
    for (;;) {
      const run = this.#supervisor.runner.runs.get(id);
      if (!run) break;
      const news = await waitForRun(this.#getWaitDeps(), run, left());
      if (news === "settled" && run.outcome) return { ...run.task, outcome: run.outcome };
      if (news === "late") return this.status(id);
      if (news === "lost") break;
    }
    const task = await this.#require(id);
    if (isTerminal(task.state)) return this.#readStatus(task);
    await waitForTask(this.#getWaitDeps(), id, isEnded, left());
    return this.status(id);
  }

  /** Moves a running task to the background; sends a request if another process runs it. */
  async detach(id: TaskId): Promise<TaskStatus> {
    checkKind("task", id, "text");
    const { runner } = this.#supervisor;
    const run = runner.runs.get(id);
    if (run) {
      await runner.detach(run);
      return this.status(id);
    }
    const task = await this.#require(id);
    const isThere = (now: TaskRecord) => isTerminal(now.state) || now.mode === "background";
    if (isThere(task)) return this.#readStatus(task);
    await this.#deps.log.store.tasks.request(id, "detach");
    await waitForTask(this.#getWaitDeps(), id, isThere, { timeoutMs: REQUEST_WAIT_MS });
    return this.status(id);
  }

  /**
   * Ends a task and its children, children first; sends a request if another process runs it. Its
   * output and results are kept.
   */
  async kill(id: TaskId, reason = "asked"): Promise<TaskStatus> {
    this.#lifetime.assertOpen();
    checkKind("task", id, "text");
    await this.#supervisor.kill(id, checkKind("reason", reason, "text"));
    const status = await this.status(id);
    if (isTerminal(status.state)) return status;
    await waitForTask(this.#getWaitDeps(), id, isEnded, { timeoutMs: REQUEST_WAIT_MS });
    return this.status(id);
  }

  /**
   * Ends all tasks that have not ended, or those of a parent, a queue or a session. Waiting tasks end first, so that none
   * begins in the place of another. Each task ends once, with one notice, even if it is a child of another.
   */
  async killAll(
    query: Pick<TaskQuery, "parent" | "queue" | "session"> & {
      /** Further condition, for example that the caller may see the task. */
      readonly where?: (task: TaskRecord) => boolean;
    } = {},
    reason = "asked",
  ): Promise<readonly TaskStatus[]> {
    const { where = () => true, ...only } = checkFields("query", query, {
      parent: "text?",
      queue: "text?",
      session: "text?",
      where: "function?",
    });
    checkKind("reason", reason, "text");
    checkNames("query", query, ["parent", "queue", "session", "where"]);
    const found = (await listUnfinishedTasks(this.#deps.log.store.tasks, only)).filter(where);
    const { waiting = [], running = [] } = Object.groupBy(found, ({ state }) =>
      state === "queued" ? "waiting" : "running",
    );
    const ended: TaskStatus[] = [];
    for (const some of [waiting, running])
      ended.push(...(await Promise.all(some.map(({ id }) => this.kill(id, reason)))));
    return ended;
  }

  /** Reads a task's entries from the log, including ended tasks and tasks of other processes. */
  async *output(id: TaskId, options: OutputOptions = {}): AsyncGenerator<TaskEntry> {
    checkFields("options", options, { signal: "signal?" });
    const { timer } = this.#supervisor;
    yield* readTaskOutput(
      { log: this.#deps.log, lifetime: this.#lifetime, timer },
      await this.#require(id),
      options,
    );
  }

  /** The tag of a task's processes, for `findTagged`; unique across stores. */
  tag(id: TaskId): Promise<string> {
    this.#lifetime.assertOpen();
    return this.#supervisor.tagOf(id);
  }

  /** Calls `listener` for each notice that this process sends; returns a function that removes it. */
  onNotice(listener: (notice: TaskNotice) => void): () => void {
    this.#listeners.add(checkKind("listener", listener, "function"));
    return () => this.#listeners.delete(listener);
  }

  /** Recovers tasks of dead processes now, and from then on within every lease. */
  async recover(): Promise<RecoveryCounts> {
    this.#lifetime.assertOpen();
    await this.#supervisor.hold();
    return this.#supervisor.sweep();
  }

  /**
   * Takes tasks from queues and runs those whose agents are registered here, until the returned worker is closed.
   */
  async work(options: WorkOptions = {}): Promise<TaskWorker<OpenedSession>> {
    this.#lifetime.assertOpen();
    const resolved = resolveWorkOptions(options);
    const { log, onWarning } = this.#deps;
    const { timer } = this.#supervisor;
    const worker = new TaskWorker({
      store: log.store,
      delivery: log.store.delivery ?? new PolledDelivery(log.store, log.clock),
      supervisor: this.#supervisor,
      timer,
      options: resolved,
      onWarning: safeListener(onWarning),
    });
    this.#workers.add(worker);
    await worker.start();
    return worker;
  }

  /** Resolves when all tasks that ended here are cleaned up and their notices sent. */
  async cleaned(): Promise<void> {
    await this.#supervisor.runner.waitUntilFinished();
  }

  /** Ends the tasks of this process within `graceMs`; the next owner does the remaining cleanup. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const closing = this.#lifetime.close();
    await Promise.all([...this.#workers].map((worker) => worker.close()));
    await this.#supervisor.close();
    this.#listeners.clear();
    await closing;
  }

  #getWaitDeps(): WaitDeps {
    return { store: this.#deps.log.store, timer: this.#supervisor.timer, closing: this.#supervisor.closed };
  }

  #notifyListeners(notice: TaskNotice): void {
    for (const listener of this.#listeners) {
      try {
        listener(notice);
      } catch (error) {
        safeListener(this.#deps.onWarning)(`A listener to notices failed: ${error}`);
      }
    }
  }

  async #require(id: TaskId): Promise<TaskRecord> {
    const task = await this.#deps.log.store.tasks.get(checkKind("task", id, "text"));
    if (task) return task;
    throw createTaskNotFoundError(id);
  }

  async #readStatus(task: TaskRecord): Promise<TaskStatus> {
    const outcome = await readOutcome(this.#deps.log, task);
    return outcome ? { ...task, outcome } : task;
  }

  #createHandle({ id, session }: TaskRecord): TaskHandle {
    return {
      id,
      session,
      wait: (options) => this.wait(id, options),
      detach: () => this.detach(id),
      kill: (reason) => this.kill(id, reason),
      status: () => this.status(id),
      output: (options) => this.output(id, options),
    };
  }
}

/** Dependencies of waiting for a task. */
interface WaitDeps {
  readonly store: Store;
  readonly timer: Timer;
  /** Fires when the supervisor closes, which ends every wait. */
  readonly closing: AbortSignal;
}

/** Waits for an event of a task that this process runs; "late" after the timeout. */
function waitForRun(
  { timer, closing }: WaitDeps,
  run: TaskRun<never>,
  options: WaitOptions,
): Promise<RunEvent | "late"> {
  return waitBounded<RunEvent | "late">(timer, closing, options, "late", (resolve) => run.listen(resolve));
}

/**
 * Waits until a task of any process satisfies `isEnough`, or the timeout passes. Undefined if there is no such task.
 */
function waitForTask(
  { store, timer, closing }: WaitDeps,
  id: TaskId,
  isEnough: (task: TaskRecord) => boolean,
  options: WaitOptions,
): Promise<TaskRecord | undefined> {
  return waitBounded<TaskRecord | undefined>(timer, closing, options, undefined, (resolve, reject) => {
    let isLooking = false;
    let isRung = false;
    const look = async () => {
      isRung = true;
      if (isLooking) return;
      isLooking = true;
      try {
        while (isRung) {
          isRung = false;
          const task = await store.tasks.get(id);
          if (!task || isEnough(task)) return resolve(task);
        }
      } catch (error) {
        reject(error);
      } finally {
        isLooking = false;
      }
    };
    const end = store.onCommit(look);
    void look();
    return end;
  });
}

/** A promise that removes its timer and listeners however it settles. */
function waitBounded<T>(
  timer: Timer,
  closing: AbortSignal,
  { timeoutMs, signal }: WaitOptions,
  late: T,
  begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const undo: (() => void)[] = [];
    const end = (settle: () => void) => {
      for (const step of undo.splice(0)) step();
      settle();
    };
    const on = (from: AbortSignal | undefined, error: () => LonghaulError) => {
      if (!from) return;
      const abort = () => end(() => reject(error()));
      from.addEventListener("abort", abort);
      undo.push(() => from.removeEventListener("abort", abort));
      if (from.aborted) abort();
    };
    on(signal, () => new LonghaulError("ABORTED", "The wait was aborted by its signal; the task goes on."));
    on(
      closing,
      () => new LonghaulError("CLOSED", "The supervisor of tasks was closed while someone waited."),
    );
    if (signal?.aborted || closing.aborted) return;
    // Someone waits, so the process stays alive even if the task itself waits for nothing but its signal.
    const giveUp = () => timeoutMs !== undefined && end(() => resolve(late));
    undo.push(timer.after(timeoutMs ?? NEVER_MS, giveUp, { keepsAlive: true }));
    const stop = begin(
      (value) => end(() => resolve(value)),
      (error) => end(() => reject(error)),
    );
    undo.push(stop);
  });
}
