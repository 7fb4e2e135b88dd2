import { isTerminal } from "../model/task.ts";
import type { TaskRecord } from "../store/task-store.ts";

/** What to do about a task whose owner is dead, or which has none. */
export type Recovery =
  /** It has ended; its notice is owed. */
  | "finish"
  /** Its notice is in the log and has yet to go out. */
  | "deliver"
  /** Someone asked for it. */
  | "kill"
  /** Its time is over. */
  | "expire"
  /** Go on from the log. */
  | "resume"
  /** Let it wait for someone who knows its agent and has room. */
  | "release"
  /** Nobody can go on with it. */
  | "lose"
  | "leave";

/** What decides it besides the task. */
export interface RecoveryFacts {
  readonly now: number;
  /** Whether its agent is known here. */
  readonly isRegistered: boolean;
  /** Whether it can run here now. */
  readonly hasRoom: boolean;
  /** A task that was taken over this often brings its owners down, and is given up. */
  readonly maxResumes: number;
  /** How long a task may wait for someone who knows its agent. */
  readonly abandonMs: number;
}

/** What to do about a task that nobody runs. */
export function decideRecovery(task: TaskRecord, facts: RecoveryFacts): Recovery {
  if (isTerminal(task.state)) return task.notice === "told" ? "deliver" : "finish";
  if (task.wish === "kill") return "kill";
  if (task.deadlineAt !== undefined && facts.now >= task.deadlineAt) return "expire";
  if (task.state !== "queued" && (!task.canResume || task.resumes >= facts.maxResumes)) return "lose";
  if (facts.isRegistered && facts.hasRoom) return "resume";
  if (facts.now - task.createdAt > facts.abandonMs) return "lose";
  return task.owner === undefined ? "leave" : "release";
}
