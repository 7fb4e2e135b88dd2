import { isTerminal, type TaskEvent, type TaskState } from "../model/task.ts";

/** What an event does in a state: leads to a state, changes nothing, or cannot be. */
export type Move = TaskState | "stay" | "refuse";

/** What happens once a task has ended: nothing, ever. */
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

/** The whole life of a task. */
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

/** Whether someone else may write from this move on: a new shell, a new owner, nobody, or only the one that cleans up. */
export function changesHands(event: TaskEvent): boolean {
  return event !== "detach";
}

/** Whether a move ends the task. */
export function isEnding(move: Move): boolean {
  return move !== "stay" && move !== "refuse" && isTerminal(move);
}
