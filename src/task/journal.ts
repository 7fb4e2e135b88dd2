import type { Ready } from "../log/absorb.ts";
import type { Log } from "../log/log.ts";
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
import type { NewSession } from "../store/session-store.ts";
import type { NoticeState, TaskChange, TaskFields, TaskRecord } from "../store/task-store.ts";
import { changesHands, MOVES } from "./state.ts";

/** A task to be made. */
export interface TaskMaking {
  readonly id: TaskId;
  readonly plan: TaskPlan;
  /** Who runs it, or will; nobody if it waits for someone who can. */
  readonly owner?: string;
  readonly canResume: boolean;
  readonly isRunning: boolean;
  readonly session: NewSession;
  /** Refused unless the parent is of this epoch: who has ended, or was taken over, has no more children. */
  readonly parentEpoch?: number;
}

/** What comes with a move. */
export interface MoveExtras {
  readonly owner?: string | undefined;
  readonly mode?: TaskMode;
  readonly outcome?: TaskOutcome;
}

/** What came of a move: the task as it is now, which may have been moved by someone else. */
export interface Moved {
  readonly hasMoved: boolean;
  readonly task: TaskRecord | undefined;
}

/** The same for an end, with the outcome as it was written. */
export interface Settled extends Moved {
  readonly outcome: TaskOutcome;
}

const MAX_ERROR_CHARACTERS = 10_000;

/** Writes what becomes of tasks: every change of a row is one transaction with the entry that says so. */
export class Journal {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Makes a task, with its session if there is none. TASK_CONFLICT if the id is taken. */
  async create(making: TaskMaking): Promise<TaskRecord> {
    const { id, plan, owner, canResume, isRunning, session, parentEpoch } = making;
    const createdAt = this.#log.clock.now();
    const task = {
      id,
      ...(plan.parent !== undefined && { parent: plan.parent }),
      ...(plan.parentSession !== undefined && { parentSession: plan.parentSession }),
      agent: plan.agent,
      state: isRunning ? "running" : "queued",
      mode: plan.mode,
      ...(owner !== undefined && { owner }),
      epoch: 1,
      canResume,
      resumes: 0,
      attempts: 0,
      createdAt,
      ...(plan.deadlineAt !== undefined && { deadlineAt: plan.deadlineAt }),
    } as const;
    const notes: TaskNote[] = [{ type: "created", plan }];
    if (isRunning) {
      const by = owner === undefined ? {} : { owner };
      notes.push({ type: "moved", event: "start", from: "queued", to: "running", epoch: 1, ...by });
    }
    const bodies = notes.map((note): Ready<TaskBody> => ({ body: { kind: "task", task: id, note } }));
    const creation = { create: task, ...(parentEpoch !== undefined && { parentEpoch }) };
    const extras = { task: creation, create: session, at: createdAt };
    const [first] = await this.#log.append(session.id, bodies, extras);
    return { ...task, session: session.id, firstSeq: first?.seq ?? 1, lastSeq: 0, noticeSeq: 0 };
  }

  /** Lets an event happen, if the table of states allows it and the caller may still write. */
  async move(known: TaskRecord, event: TaskEvent, extras: MoveExtras = {}): Promise<Moved> {
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

  /** Ends a task, as its new owner if one is named; a result that cannot be kept never keeps it from ending. */
  async settle(known: TaskRecord, event: TaskEvent, outcome: TaskOutcome, owner?: string): Promise<Settled> {
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

  /** Writes what an agent said; TASK_CONFLICT if it may no more. */
  async say(task: TaskRecord, epoch: number, items: readonly Ready<EntryBody>[]): Promise<void> {
    await this.#log.append(task.session, items, { task: { id: task.id, expect: { epoch } } });
  }

  /** Writes the one notice of a task; false if someone else has, or does. */
  async tell(task: TaskRecord, notice: TaskNotice, next: NoticeState): Promise<boolean> {
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
    const epoch = task.epoch + (changesHands(event) ? 1 : 0);
    const note: TaskNote = {
      type: "moved",
      event,
      from: task.state,
      to,
      epoch,
      ...(extras.owner !== undefined && { owner: extras.owner }),
      ...(mode !== undefined && { mode }),
      ...(outcome && { outcome }),
    };
    const at = this.#log.clock.now();
    const set: TaskFields = {
      state: to,
      epoch,
      ...(mode !== undefined && { mode }),
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
