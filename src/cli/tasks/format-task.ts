import type { TaskPlan, TaskSketch } from "../../kernel/faces/task.ts";
import { isTerminal, type TaskStatus } from "../../kernel/index.ts";
import { parseOwner } from "../../model/base/owner.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { getTaskExitCode, isPlainExit } from "./task-exit-code.ts";

/** Returns a task's title, else its command line, else its agent. */
export function getTaskTitle(plan: TaskPlan | undefined): string {
  return plan?.title ?? getCommandLine(plan) ?? plan?.agent ?? "";
}

/** Returns the command line of a task that runs a program. */
export function getCommandLine(plan: TaskPlan | undefined): string | undefined {
  const input = plan?.input;
  if (typeof input !== "object" || input === null || !("command" in input)) return undefined;
  const { command, args } = input;
  if (typeof command !== "string") return undefined;
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  return [command, ...words].map(quoteShellWord).join(" ");
}

/** Describes a task's state, with the reason if it did not complete. */
export function formatTaskState(status: TaskStatus): string {
  const { state, outcome, mode } = status;
  if (state === "failed" && isPlainExit(status)) return `failed (exit code ${getTaskExitCode(status)})`;
  if (outcome?.reason !== undefined) return `${state} (${outcome.reason})`;
  return state === "running" && mode === "foreground" ? "running (foreground)" : state;
}

/** Describes the process that owns a task; "" if the task has ended. */
export function formatTaskOwner({ status, isOwned }: TaskSketch): string {
  const { owner, state } = status;
  if (isTerminal(state)) return "";
  if (owner === undefined)
    return status.queue === undefined ? "no process" : `waits in queue ${status.queue}`;
  const { host, pid } = parseOwner(owner);
  return isOwned ? `process ${pid} on ${host}` : `process ${pid} on ${host} is dead or does not respond`;
}

/** Builds the JSON of a task. */
export function toTaskJson({ status, plan, isOwned }: TaskSketch): object {
  const { id, agent, state, mode, queue, person, session, parent, parentSession, owner, resumes } = status;
  const { createdAt, settledAt, deadlineAt, outcome } = status;
  const title = getTaskTitle(plan);
  const worker = owner === undefined ? undefined : parseOwner(owner);
  const where = { session, parent, parentSession, owner, worker, isOwned, resumes };
  return {
    id,
    title,
    agent,
    state,
    mode,
    queue,
    person,
    ...where,
    createdAt,
    settledAt,
    deadlineAt,
    outcome,
  };
}
