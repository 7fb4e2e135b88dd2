import type { Json } from "../model/json.ts";
import type { Census, Closable } from "../model/scope.ts";
import type { TaskEvent, TaskId, TaskOutcome } from "../model/task.ts";
import { type ContextParts, makeContext } from "./context.ts";
import { withinDeadline } from "./deadline.ts";
import type { Finisher } from "./finisher.ts";
import { type IsolateParts, isolate } from "./isolate.ts";
import type { MoveExtras } from "./journal.ts";
import type { Run } from "./run.ts";
import { Shell, type ShellEnd } from "./shell.ts";
import { beginSummary, type Summariser } from "./summariser.ts";
import { NotOurs, Overrun, takeEvent } from "./take-event.ts";
import { untilStored } from "./until-stored.ts";
import { wordsOf } from "./words.ts";

/** Dependencies of a `Runner`. */
export interface RunnerParts<OpenedSession> extends ContextParts<OpenedSession>, Omit<IsolateParts, "track"> {
  readonly finisher: Finisher;
  readonly census: Census;
  readonly owner: string;
  readonly summariser?: Summariser;
  /** Stops the children of an ending task. */
  readonly stopChildren: (parent: TaskId) => Promise<void>;
  /** Called when a run has left this process for any reason. */
  readonly left: (run: Run<OpenedSession>) => void;
  /** Fires when the supervisor can wait no longer. */
  readonly stop: AbortSignal;
  readonly onWarning: (warning: string) => void;
}

/**
 * Runs the tasks that this process owns. The first caller that ends a task wins; cleanup runs once afterwards,
 * and nothing waits for it.
 */
export class Runner<OpenedSession> {
  readonly runs = new Map<TaskId, Run<OpenedSession>>();
  readonly #parts: RunnerParts<OpenedSession>;
  /** Cleanups of tasks that have ended or have another owner. */
  readonly #finishing = new Map<TaskId, Promise<void>>();

  constructor(parts: RunnerParts<OpenedSession>) {
    this.#parts = parts;
  }

  /** Adds a run without starting it. */
  adopt(run: Run<OpenedSession>): void {
    this.runs.set(run.task.id, run);
    const { deadlineAt } = run.task;
    if (deadlineAt === undefined) return;
    const { timer, log } = this.#parts;
    run.cancelDeadline = timer.after(deadlineAt - log.clock.now(), () => void this.#expire(run));
  }

  /** Drops tasks that were taken over or deleted, and ends those whose deadline passed while the machine slept. */
  async check(): Promise<void> {
    const { log, owner } = this.#parts;
    for (const run of [...this.runs.values()]) {
      const task = await log.store.tasks.get(run.task.id);
      if (task?.owner !== owner) this.#lose(run);
      else if (log.clock.now() >= (task.deadlineAt ?? Number.POSITIVE_INFINITY)) void this.#expire(run);
    }
  }

  /** Runs a task of this process that is in state "running". */
  launch(run: Run<OpenedSession>): void {
    this.#live(run).catch((error) => this.#lose(run, `Task ${run.task.id} was given up: ${error}`));
  }

  /** Moves a queued run to "running" and launches it. */
  async begin(run: Run<OpenedSession>): Promise<void> {
    try {
      if (await this.#move(run, "start", { owner: this.#parts.owner })) this.launch(run);
    } catch (error) {
      this.#lose(run, `Task ${run.task.id} could not be started: ${error}`);
    }
  }

  /** Ends a task; concurrent calls wait for the first. Resolves when the end is in the log. */
  settle(run: Run<OpenedSession>, event: TaskEvent, outcome: TaskOutcome): Promise<void> {
    run.settling ??= this.#settle(run, event, outcome).catch((error) =>
      this.#lose(run, `The end of task ${run.task.id} could not be written: ${error}`),
    );
    return run.settling;
  }

  /** Moves a task to the background; resolves when it is there or has ended. */
  async detach(run: Run<OpenedSession>): Promise<void> {
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
  async release(run: Run<OpenedSession>): Promise<void> {
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
    const heard = work.catch((error) => this.#parts.onWarning(`Clean-up after task ${id} failed: ${error}`));
    const tracked = Promise.all([former, heard]).then(() => {
      if (this.#finishing.get(id) === tracked) this.#finishing.delete(id);
    });
    this.#finishing.set(id, tracked);
  }

  /** Whether this process runs a task or cleans up after it. */
  isBusyWith(id: TaskId): boolean {
    return this.runs.has(id) || this.#finishing.has(id);
  }

  /** Resolves when no cleanup is left. */
  async finished(): Promise<void> {
    while (this.#finishing.size > 0) await Promise.all(this.#finishing.values());
  }

  async #live(run: Run<OpenedSession>): Promise<void> {
    for (;;) {
      const end = await this.#drive(run);
      if (end.type === "stopped") return;
      if (end.type === "done")
        return this.settle(run, "complete", {
          state: "completed",
          ...resultOf(end.value ?? run.memory.result),
        });
      if (end.type === "threw") return this.#failed(run, end.error);
      if (!(await this.#handOver(run))) return;
    }
  }

  async #drive(run: Run<OpenedSession>): Promise<ShellEnd> {
    const { census, timer, limits } = this.#parts;
    let shell = run.shell;
    if (!shell) {
      shell = new Shell(run.task.epoch, census, timer, limits);
      run.shell = shell;
      if (run.settling) return { type: "stopped" };
      try {
        await isolate({ ...this.#parts, track: (id, work) => this.track(id, work) }, run, shell);
        const tag = await this.#parts.tagOf(run.task.id);
        if (shell.isStopped) return { type: "stopped" };
        shell.begin(run.agent.run(makeContext(this.#parts, run, shell, tag)));
        shell.summarise(this.#summary(run));
      } catch (error) {
        return shell.isStopped ? { type: "stopped" } : { type: "threw", error };
      }
    }
    const driven = shell;
    return driven.drive((event) => takeEvent(this.#parts, run, driven, event));
  }

  #summary({ task }: Run<OpenedSession>): Closable | undefined {
    const { summariser, journal } = this.#parts;
    return beginSummary(summariser, journal, task, this.#parts.onWarning);
  }

  #expire(run: Run<OpenedSession>): Promise<void> {
    const error = "The task took too long.";
    return this.settle(run, "fail", { state: "failed", reason: "deadline", error });
  }

  async #failed(run: Run<OpenedSession>, error: unknown): Promise<void> {
    if (error instanceof NotOurs) return this.#lose(run);
    const reason = error instanceof Overrun ? error.reason : "error";
    return this.settle(run, "fail", { state: "failed", reason, error: wordsOf(error) });
  }

  async #detach(run: Run<OpenedSession>): Promise<void> {
    const { promise: news, resolve } = Promise.withResolvers<void>();
    const unlisten = run.listen(() => resolve());
    try {
      const isQueued = run.task.state === "queued";
      if (!(await this.#move(run, "detach", isQueued ? { mode: "background" } : {})))
        return await run.settling;
      if (run.task.state === "queued") return run.tell("detached");
      run.shell?.detach();
      await news;
    } finally {
      unlisten();
    }
  }

  /**
   * Moves the task to the background: a resumable agent is called again and continues from the log; otherwise the
   * running iterator is handed on.
   */
  async #handOver(run: Run<OpenedSession>): Promise<boolean> {
    const { shell, agent } = run;
    if (agent.canResume) await shell?.close();
    if (!(await this.#move(run, "detached", { mode: "background", owner: this.#parts.owner }))) return false;
    run.cause = "detach";
    if (agent.canResume) run.shell = undefined;
    else shell?.handOn(run.task.epoch, this.#summary(run));
    run.tell("detached");
    return true;
  }

  /** Writes a move that does not end the task; returns false if the task has ended or has another owner. */
  async #move(run: Run<OpenedSession>, event: TaskEvent, extras: MoveExtras): Promise<boolean> {
    if (run.settling) return false;
    const { journal, stop } = this.#parts;
    const moving = untilStored(this.#parts, stop, run.task.id, () => journal.move(run.task, event, extras));
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

  async #settle(run: Run<OpenedSession>, event: TaskEvent, given: TaskOutcome): Promise<void> {
    const { journal, stop, timer, limits, left } = this.#parts;
    const isAlone = !run.moving && !run.mayHaveChildren;
    const leaves = isAlone ? undefined : Promise.all([run.moving, this.#stopChildren(run)]);
    // Stop the children first, but end the agent anyway if the store delays that.
    if (leaves) await withinDeadline(timer, limits.closeMs, () => leaves);
    if (event !== "complete") run.shell?.stop(given.reason ?? given.state);
    await leaves;
    const found = given.result === undefined ? { ...given, ...resultOf(run.memory.result) } : given;
    const settling = () => journal.settle(run.task, event, found);
    const { hasMoved, task, outcome } = await untilStored(this.#parts, stop, run.task.id, settling);
    if (!hasMoved || !task) return this.#lose(run);
    run.task = task;
    run.outcome = outcome;
    this.runs.delete(task.id);
    run.tell("settled");
    left(run);
    this.track(task.id, this.#finish(run));
  }

  async #stopChildren({ task, mayHaveChildren }: Run<OpenedSession>): Promise<void> {
    const { stop, stopChildren } = this.#parts;
    if (mayHaveChildren) await untilStored(this.#parts, stop, task.id, () => stopChildren(task.id));
  }

  async #finish(run: Run<OpenedSession>): Promise<void> {
    const { task, outcome, memory } = run;
    await run.shell?.close();
    run.shell = undefined;
    if (!outcome) return;
    // Stops children that were being started when the task ended; an ended task starts no more.
    await this.#stopChildren(run);
    const { stop, tagOf } = this.#parts;
    const tag = await untilStored(this.#parts, stop, task.id, () => tagOf(task.id));
    await this.#parts.finisher.finish(
      { task, outcome, tag, ...(memory.plan && { plan: memory.plan }) },
      memory.place,
    );
  }

  #lose(run: Run<OpenedSession>, warning?: string): void {
    if (warning !== undefined) this.#parts.onWarning(warning);
    if (this.runs.get(run.task.id) !== run) return;
    this.runs.delete(run.task.id);
    run.settling ??= Promise.resolve();
    const { shell } = run;
    run.shell = undefined;
    if (shell) {
      shell.stop("it is run by someone else now");
      this.track(run.task.id, shell.close());
    }
    run.tell("lost");
    this.#parts.left(run);
  }
}

function resultOf(result: Json | undefined): Pick<TaskOutcome, "result" | "isResultOmitted"> {
  if (typeof result === "function" || typeof result === "symbol") return { isResultOmitted: true };
  return result === undefined ? {} : { result };
}
