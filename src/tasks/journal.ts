import type { Log } from "../log/log.ts";
import type { ReadyBody } from "../log/spilled-parts.ts";
import type { NewSession } from "../log/store/session-store.ts";
import type { NoticeState, TaskChange, TaskFields, TaskRecord } from "../log/store/task-store.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { EntryBody, TaskBody } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import {
  isTerminal,
  type TaskEvent,
  type TaskId,
  type TaskMode,
  type TaskNote,
  type TaskNotice,
  type TaskOutcome,
  type TaskPlan,
  type TaskState,
} from "../model/task.ts";

/** Effect of an event in a state: a new state, no change, or refusal. */
type Move = TaskState | "stay" | "refuse";

/** An ended task never moves. */
const ENDED: Readonly<Record<TaskEvent, Move>> = {
  start: "refuse",
  resume: "refuse",
  detach: "stay",
  detached: "refuse",
  release: "refuse",
  complete: "stay",
  fail: "stay",
  kill: "stay",
  lose: "stay",
};

/** The state table of tasks. */
export const MOVES: Readonly<Record<TaskState, Readonly<Record<TaskEvent, Move>>>> = {
  queued: {
    start: "running",
    resume: "running",
    detach: "queued",
    detached: "refuse",
    release: "queued",
    complete: "refuse",
    fail: "failed",
    kill: "killed",
    lose: "failed",
  },
  running: {
    start: "refuse",
    resume: "running",
    detach: "detaching",
    detached: "refuse",
    release: "queued",
    complete: "completed",
    fail: "failed",
    kill: "killed",
    lose: "failed",
  },
  detaching: {
    start: "refuse",
    resume: "running",
    detach: "stay",
    detached: "running",
    release: "queued",
    complete: "completed",
    fail: "failed",
    kill: "killed",
    lose: "failed",
  },
  completed: ENDED,
  failed: ENDED,
  killed: ENDED,
};

/** Whether the move passes the right to write to another shell or owner, to none, or to the cleanup. */
function isHandover(event: TaskEvent): boolean {
  return event !== "detach";
}

/** Whether a move ends the task. */
export function isEnding(move: Move): boolean {
  return move !== "stay" && move !== "refuse" && isTerminal(move);
}

/** A task to create. */
interface TaskSpec {
  readonly id: TaskId;
  readonly plan: TaskPlan;
  /** The owner that runs the task or will; undefined if the task waits for a process that can run it. */
  readonly owner?: string;
  readonly canResume: boolean;
  readonly isRunning: boolean;
  readonly session: NewSession;
  /** Refused unless the parent has this epoch: an ended or taken-over parent has no more children. */
  readonly parentEpoch?: number;
}

/** Changes written together with a move. */
export interface MoveExtras {
  readonly owner?: string | undefined;
  readonly mode?: TaskMode;
  /** Whether the agent that takes the task up can be called again. */
  readonly canResume?: boolean;
  readonly outcome?: TaskOutcome;
}

/** Result of a move, with the current task, which another process may have moved. */
interface MoveResult {
  readonly hasMoved: boolean;
  readonly task: TaskRecord | undefined;
}

/** Result of a settlement, with the outcome as written. */
interface SettleResult extends MoveResult {
  readonly outcome: TaskOutcome;
}

const MAX_ERROR_CHARACTERS = 10_000;

/** Writes the state changes of tasks: each change of a row is one transaction with the entry that records it. */
export class Journal {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Creates a task, and its session if it does not exist. Throws TASK_CONFLICT if another task has the id. */
  async create(making: TaskSpec): Promise<TaskRecord> {
    const { id, plan, owner, canResume, isRunning, session, parentEpoch } = making;
    const createdAt = this.#log.clock.now();
    const task = {
      id,
      ...dropUndefined({ parent: plan.parent, parentSession: plan.parentSession }),
      agent: plan.agent,
      ...dropUndefined({ queue: plan.queue, person: plan.person }),
      state: isRunning ? "running" : "queued",
      mode: plan.mode,
      ...dropUndefined({ owner }),
      epoch: 1,
      canResume,
      resumes: 0,
      attempts: 0,
      createdAt,
      ...dropUndefined({ deadlineAt: plan.deadlineAt }),
    } as const;
    const notes: TaskNote[] = [{ type: "created", plan }];
    if (isRunning) {
      const by = owner === undefined ? {} : { owner };
      notes.push({ type: "moved", event: "start", from: "queued", to: "running", epoch: 1, ...by });
    }
    const bodies = notes.map((note): ReadyBody<TaskBody> => ({ body: { kind: "task", task: id, note } }));
    const creation = { create: task, ...dropUndefined({ parentEpoch }) };
    const extras = { task: creation, create: session, at: createdAt };
    const [first] = await this.#log.append(session.id, bodies, extras);
    return { ...task, session: session.id, firstSeq: first?.seq ?? 1, lastSeq: 0, noticeSeq: 0 };
  }

  /** Applies an event if the state table allows it and the caller still owns the task. */
  async move(known: TaskRecord, event: TaskEvent, extras: MoveExtras = {}): Promise<MoveResult> {
    let task: TaskRecord | undefined = known;
    for (;;) {
      const to: TaskState | "stay" | "refuse" = MOVES[task.state][event];
      if (to === "stay" || to === "refuse") return { hasMoved: false, task };
      try {
        return { hasMoved: true, task: await this.#write(task, event, to, extras) };
      } catch (error) {
        if (!isLonghaulError(error, "TASK_CONFLICT")) throw error;
        const from: TaskState = task.state;
        task = await this.#log.store.tasks.get(known.id);
        const isStillMine = task?.epoch === known.epoch && task.state !== from;
        if (!task || !isStillMine) return { hasMoved: false, task };
      }
    }
  }

  /** Ends a task, under a new owner if one is given. A result that cannot be stored is omitted; the task still ends. */
  async settle(
    known: TaskRecord,
    event: TaskEvent,
    outcome: TaskOutcome,
    owner?: string,
  ): Promise<SettleResult> {
    const by = owner === undefined ? {} : { owner };
    const { error: words } = outcome;
    const short = words === undefined ? outcome : { ...outcome, error: words.slice(0, MAX_ERROR_CHARACTERS) };
    try {
      return { ...(await this.move(known, event, { ...by, outcome: short })), outcome: short };
    } catch (error) {
      const isTooMuch =
        isLonghaulError(error, "ENTRY_TOO_LARGE") || isLonghaulError(error, "ARGUMENT_INVALID");
      if (!isTooMuch || short.result === undefined) throw error;
      const { result: _, ...rest } = short;
      const kept = { ...rest, isResultOmitted: true } as const;
      return { ...(await this.move(known, event, { ...by, outcome: kept })), outcome: kept };
    }
  }

  /** Writes entries of an agent; throws TASK_CONFLICT if the run no longer owns the task. */
  async writeEntries(task: TaskRecord, epoch: number, items: readonly ReadyBody<EntryBody>[]): Promise<void> {
    await this.#log.append(task.session, items, { task: { id: task.id, expect: { epoch } } });
  }

  /** Writes the one notice of a task; returns false if another process has written it. */
  async writeNotice(task: TaskRecord, notice: TaskNotice, next: NoticeState): Promise<boolean> {
    const change: TaskChange = {
      id: task.id,
      expect: { epoch: task.epoch, notice: "due" },
      set: { notice: next },
      marks: "notice",
    };
    const item = { body: { kind: "task", task: task.id, note: { type: "notice", notice } } } as const;
    const place = task.parentSession ?? task.session;
    try {
      await this.#log.append(place, [item], { task: change });
      return true;
    } catch (error) {
      if (isLonghaulError(error, "TASK_CONFLICT")) return false;
      const isParentGone = isLonghaulError(error, "SESSION_NOT_FOUND") && place !== task.session;
      if (!isParentGone) throw error;
      await this.#log.append(task.session, [item], { task: change });
      return true;
    }
  }

  async #write(task: TaskRecord, event: TaskEvent, to: TaskState, extras: MoveExtras): Promise<TaskRecord> {
    const { mode, outcome } = extras;
    const epoch = task.epoch + (isHandover(event) ? 1 : 0);
    const note: TaskNote = {
      type: "moved",
      event,
      from: task.state,
      to,
      epoch,
      ...dropUndefined({ owner: extras.owner, mode, outcome }),
    };
    const at = this.#log.clock.now();
    const set: TaskFields = {
      state: to,
      epoch,
      ...dropUndefined({ mode, canResume: extras.canResume }),
      ...("owner" in extras && { owner: extras.owner }),
      ...(event === "resume" && task.state !== "queued" && { resumes: task.resumes + 1 }),
      ...(event === "detach" || event === "detached" ? { wish: undefined } : {}),
      ...(isTerminal(to) && { notice: "due" as const, settledAt: at, wish: undefined }),
    };
    const change: TaskChange = {
      id: task.id,
      expect: { epoch: task.epoch, state: task.state },
      set,
      ...(isTerminal(to) && { marks: "last" as const }),
    };
    const entry = await this.#log.appendOne(
      task.session,
      { body: { kind: "task", task: task.id, note } },
      { task: change, at },
    );
    const next = { ...task, ...set, ...(isTerminal(to) && { lastSeq: entry.seq }) };
    return next as TaskRecord;
  }
}
