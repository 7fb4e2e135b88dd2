import { isTerminal } from "../model/task.ts";
import type { TaskRecord } from "../store/task-store.ts";

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
  /** Whether a worker has got the task from its queue; nobody else begins a task of a queue. */
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
