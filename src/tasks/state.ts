import { isTerminal, type TaskEvent, type TaskState } from "../model/task.ts";

/** Effect of an event in a state: a new state, no change, or refusal. */
type Move = TaskState | "stay" | "refuse";

/** Moves of an ended task: none. */
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
export function isHandover(event: TaskEvent): boolean {
  return event !== "detach";
}

/** Whether a move ends the task. */
export function isEnding(move: Move): boolean {
  return move !== "stay" && move !== "refuse" && isTerminal(move);
}
