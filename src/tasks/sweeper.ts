import type { Log } from "../log/log.ts";
import type { TaskRecord } from "../log/store/task-store.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { isLonghaulError } from "../model/errors.ts";
import { isTerminal, type TaskEvent, type TaskOutcome } from "../model/task.ts";
import type { Agent } from "./agent.ts";
import { readNotice } from "./describe-task.ts";
import type { Finisher } from "./finisher.ts";
import type { Journal } from "./journal.ts";
import { dropLease, isTaskOwnerAlive, readOwnerLife } from "./owner-lease.ts";
import type { TaskLimits } from "./task-options.ts";
import { readOutcome, readTaskProgress } from "./task-progress.ts";
import { TaskRun } from "./task-run.ts";

/** Counts of a sweep for tasks that no process runs. */
export interface RecoveryCounts {
  readonly resumed: number;
  readonly released: number;
  readonly lost: number;
  readonly killed: number;
  readonly finished: number;
}

const NO_RECOVERIES: RecoveryCounts = { resumed: 0, released: 0, lost: 0, killed: 0, finished: 0 };

/** Dependencies of a `Sweeper`. */
interface SweeperDeps<OpenedSession> {
  readonly log: Log;
  readonly journal: Journal;
  readonly finisher: Finisher;
  readonly owner: string;
  readonly limits: TaskLimits;
  readonly agents: ReadonlyMap<string, Agent<OpenedSession>>;
  /** Whether this process runs the task or cleans up after it. */
  readonly isBusyWith: (id: string) => boolean;
  readonly hasRoom: (task: TaskRecord) => boolean;
  /** Whether the leases of others may have expired only because the store was away; see `OwnerLease.isBack`. */
  readonly isBack: () => boolean;
  /** Makes sure that this process holds its lease. */
  readonly hold: () => Promise<void>;
  readonly resume: (run: TaskRun<OpenedSession>) => void;
  readonly track: (id: string, work: Promise<void>) => void;
  readonly stopChildren: (parent: string) => Promise<void>;
  readonly onWarning: (warning: string) => void;
  /** The tag that processes of a task carry. */
  readonly tagOf: (id: string) => Promise<string>;
}

const PAGE_SIZE = 200;

/** Recovers tasks of dead owners. The store refuses every step if another process was first. */
export class Sweeper<OpenedSession> {
  readonly #deps: SweeperDeps<OpenedSession>;
  /** Tasks owned but not run by this process, and since when: a fault, or a gap between two steps. */
  readonly #strays = new Map<string, number>();
  /** Owners with an expired lease whose process still exists: the lease's expiry, and when it was noticed. */
  readonly #silent = new Map<string, { readonly expiresAt: number; readonly since: number }>();

  constructor(parts: SweeperDeps<OpenedSession>) {
    this.#deps = parts;
  }

  /** Checks every owner's open tasks once. */
  async sweep(): Promise<RecoveryCounts> {
    const { log, onWarning } = this.#deps;
    let recovered = NO_RECOVERIES;
    const owners = await log.store.tasks.owners();
    for (const silent of this.#silent.keys()) if (!owners.includes(silent)) this.#silent.delete(silent);
    for (const owner of owners) {
      const isOwn = owner === this.#deps.owner;
      let isWhole = true;
      if (owner !== undefined && !isOwn && !(await this.#isGivenUp(owner))) continue;
      for (let after: string | undefined; ; ) {
        const page = await log.store.tasks.openOf(owner, { limit: PAGE_SIZE, ...dropUndefined({ after }) });
        for (const task of page)
          if (isOwn ? this.#isStray(task) : !this.#isLeftToWorkers(task)) {
            // A task that cannot be read or recovered must not block the others.
            recovered = await this.#recover(task.id, owner, recovered).catch((error) => {
              onWarning(`Task ${task.id} could not be looked after: ${error}`);
              isWhole = false;
              return recovered;
            });
          }
        after = page.at(-1)?.id;
        if (page.length < PAGE_SIZE) break;
      }
      if (owner !== undefined && !isOwn && isWhole) await dropLease(log.store, owner);
    }
    return recovered;
  }

  /** Runs or ends a task that a queue has delivered, unless it is in the hands of a live owner. */
  async takeUp(id: string): Promise<"here" | "over" | "elsewhere"> {
    const { log, isBusyWith, owner } = this.#deps;
    if (isBusyWith(id)) return "here";
    const task = await log.store.tasks.get(id);
    if (!task || (isTerminal(task.state) && task.notice === "done")) return "over";
    const isForeign = task.owner !== undefined && task.owner !== owner;
    if (isForeign && (this.#deps.isBack() || !(await this.#isDead(task.owner as string)))) return "elsewhere";
    await this.#carryOut(task, { hasRoom: true, isDelivered: true }, NO_RECOVERIES);
    // Otherwise another process was first.
    return isBusyWith(id) ? "here" : "elsewhere";
  }

  /** Ends a task that no process runs; returns false if one does. */
  async settleOrphan(task: TaskRecord, event: TaskEvent, outcome: TaskOutcome): Promise<boolean> {
    const { hold, journal, log, owner, stopChildren } = this.#deps;
    await stopChildren(task.id);
    const memory = await readTaskProgress(log, task);
    const kept = memory.result === undefined ? outcome : { ...outcome, result: memory.result };
    await hold();
    const moved = await journal.settle(task, event, kept, owner);
    if (!moved.hasMoved || !moved.task) return false;
    this.#finish(moved.task, moved.outcome);
    return true;
  }

  /** Whether no process runs a task. */
  async isOrphan({ owner }: TaskRecord): Promise<boolean> {
    return owner === undefined || this.#isDead(owner);
  }

  async #isDead(owner: string): Promise<boolean> {
    const { log } = this.#deps;
    if (owner === this.#deps.owner) return false;
    return !(await isTaskOwnerAlive(log.store, owner, log.clock.now()));
  }

  /**
   * Whether an owner is dead, or has been silent long enough to have renewed its lease: when a machine wakes, all of
   * its leases have expired and their owners are about to renew them.
   */
  async #isGivenUp(owner: string): Promise<boolean> {
    const { log, limits } = this.#deps;
    const now = log.clock.now();
    const { state, expiresAt } = await readOwnerLife(log.store, owner, now);
    const known = this.#silent.get(owner);
    this.#silent.delete(owner);
    const isExcused = state === "dead" && expiresAt > 0 && this.#deps.isBack();
    if (state !== "silent" && !isExcused) return state === "dead";
    const since = known?.expiresAt === expiresAt ? known.since : now;
    if (now - since >= limits.leaseMs / 2) return true;
    this.#silent.set(owner, { expiresAt, since });
    return false;
  }

  /** Whether a task waits in a queue and nothing has to be done about it meanwhile. */
  #isLeftToWorkers({
    owner,
    queue,
    wish,
    deadlineAt = Number.POSITIVE_INFINITY,
    state,
  }: TaskRecord): boolean {
    const isWaiting = owner === undefined && queue !== undefined && state === "queued";
    return isWaiting && wish === undefined && this.#deps.log.clock.now() < deadlineAt;
  }

  /** Whether a task of this process has been unknown here for too long to be a gap between two steps. */
  #isStray({ id }: TaskRecord): boolean {
    const { isBusyWith, limits, log } = this.#deps;
    if (isBusyWith(id)) {
      this.#strays.delete(id);
      return false;
    }
    const now = log.clock.now();
    const since = this.#strays.get(id) ?? now;
    if (now - since < limits.leaseMs) this.#strays.set(id, since);
    else this.#strays.delete(id);
    return now - since >= limits.leaseMs;
  }

  async #recover(id: string, owner: string | undefined, recovered: RecoveryCounts): Promise<RecoveryCounts> {
    const task = await this.#deps.log.store.tasks.get(id);
    // The task may have changed since the page was read, even through the recovery of another task.
    if (!task || task.owner !== owner || this.#deps.isBusyWith(id)) return recovered;
    return this.#carryOut(task, { hasRoom: this.#deps.hasRoom(task) }, recovered);
  }

  async #carryOut(
    task: TaskRecord,
    facts: { readonly hasRoom: boolean; readonly isDelivered?: boolean },
    recovered: RecoveryCounts,
  ): Promise<RecoveryCounts> {
    const { log, agents, limits } = this.#deps;
    const agent = agents.get(task.agent);
    const isRegistered = agent !== undefined;
    const decision = decideRecovery(task, { now: log.clock.now(), isRegistered, ...facts, ...limits });
    switch (decision) {
      case "finish":
      case "deliver":
        return (await this.#finishOrphan(task))
          ? { ...recovered, finished: recovered.finished + 1 }
          : recovered;
      case "kill":
        return (await this.settleOrphan(task, "kill", {
          state: "killed",
          reason: task.wishReason ?? "asked",
        }))
          ? { ...recovered, killed: recovered.killed + 1 }
          : recovered;
      case "expire":
      case "lose": {
        const reason = decision === "lose" ? "lost" : "deadline";
        const error =
          decision === "lose" ? "The process that ran the task is gone." : "The task took too long.";
        const event = decision === "lose" ? "lose" : "fail";
        const isLost = await this.settleOrphan(task, event, { state: "failed", reason, error });
        return isLost ? { ...recovered, lost: recovered.lost + 1 } : recovered;
      }
      case "release": {
        const { hasMoved } = await this.#deps.journal.move(task, "release", { owner: undefined });
        return hasMoved ? { ...recovered, released: recovered.released + 1 } : recovered;
      }
      case "resume":
        return agent && (await this.#resume(task, agent))
          ? { ...recovered, resumed: recovered.resumed + 1 }
          : recovered;
      case "leave":
        return recovered;
    }
  }

  async #resume(task: TaskRecord, agent: Agent<OpenedSession>): Promise<boolean> {
    const { hold, journal, log, owner, resume } = this.#deps;
    await hold();
    const memory = await readTaskProgress(log, task);
    const canResume = agent.canResume ?? false;
    const moved = await journal.move(task, "resume", { owner, mode: "background", canResume });
    if (!moved.hasMoved || !moved.task) return false;
    resume(new TaskRun(agent, moved.task, memory, memory.hasRun ? "resume" : "start"));
    return true;
  }

  async #finishOrphan(task: TaskRecord): Promise<boolean> {
    const taken = await this.#takeOver(task);
    if (!taken) return false;
    const outcome = await readOutcome(this.#deps.log, taken);
    this.#finish(taken, outcome ?? { state: isTerminal(taken.state) ? taken.state : "failed" });
    return true;
  }

  /** Takes ownership of a task without starting it. */
  async #takeOver(task: TaskRecord): Promise<TaskRecord | undefined> {
    const { hold, log, owner } = this.#deps;
    await hold();
    const change = { id: task.id, expect: { epoch: task.epoch }, set: { owner, epoch: task.epoch + 1 } };
    try {
      return await log.store.tasks.change(change);
    } catch (error) {
      if (isLonghaulError(error, "TASK_CONFLICT")) return undefined;
      throw error;
    }
  }

  #finish(task: TaskRecord, outcome: TaskOutcome): void {
    this.#deps.track(task.id, this.#finishNow(task, outcome));
  }

  async #finishNow(task: TaskRecord, outcome: TaskOutcome): Promise<void> {
    const { finisher, log } = this.#deps;
    const notice = task.notice === "told" ? await readNotice(log, task) : undefined;
    if (notice) return finisher.deliver(task, notice);
    await this.#deps.stopChildren(task.id);
    const { plan, place } = await readTaskProgress(log, task);
    const tag = await this.#deps.tagOf(task.id);
    await finisher.finish({ task, outcome, tag, isOrphan: true, ...dropUndefined({ plan }) }, place);
  }
}

/** Action for a task whose owner is dead or missing. */
type Recovery =
  /** Write the due notice of the ended task. */
  | "finish"
  /** Deliver the notice, which is already in the log. */
  | "deliver"
  /** Carry out a kill request. */
  | "kill"
  /** Settle the task: its deadline has passed. */
  | "expire"
  /** Continue from the log. */
  | "resume"
  /** Release the task to a process that knows its agent and has room. */
  | "release"
  /** Settle the task as lost: no process can continue it. */
  | "lose"
  | "leave";

/** Facts other than the task that decide its recovery. */
interface RecoveryFacts {
  readonly now: number;
  /** Whether its agent is registered in this process. */
  readonly isRegistered: boolean;
  /** Whether the task can run in this process now. */
  readonly hasRoom: boolean;
  /** After this many takeovers the task is assumed to crash its owners, and is given up. */
  readonly maxResumes: number;
  /** How long a task may wait for a process that knows its agent. */
  readonly abandonMs: number;
  /** Whether a worker has taken the task from its queue; nobody else begins a task of a queue. */
  readonly isDelivered?: boolean;
}

/** Decides the recovery of a task that no process runs. */
export function decideRecovery(task: TaskRecord, facts: RecoveryFacts): Recovery {
  if (isTerminal(task.state)) return task.notice === "told" ? "deliver" : "finish";
  if (task.wish === "kill") return "kill";
  if (task.deadlineAt !== undefined && facts.now >= task.deadlineAt) return "expire";
  if (task.state !== "queued" && (!task.canResume || task.resumes >= facts.maxResumes)) return "lose";
  const isOpenToAll = task.queue === undefined;
  if (facts.isRegistered && facts.hasRoom && (isOpenToAll || facts.isDelivered)) return "resume";
  if (isOpenToAll && facts.now - task.createdAt > facts.abandonMs) return "lose";
  return task.owner === undefined ? "leave" : "release";
}
