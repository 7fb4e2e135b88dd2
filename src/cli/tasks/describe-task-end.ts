import type { TaskDetails } from "../../kernel/faces/task.ts";
import type { Json } from "../../kernel/index.ts";
import { formatTaskState, toTaskJson } from "./format-task.ts";
import { isPlainExit } from "./task-exit-code.ts";

/** Describes the end of a followed task; empty if the program's exit code explains it. */
export function describeTaskEnd({
  status,
  notice,
  place,
  spent: _,
  ...rest
}: TaskDetails): readonly string[] {
  const { id, state, outcome } = status;
  const why = outcome?.error === undefined ? "" : `: ${outcome.error}`;
  const isSilent = state === "completed" || isPlainExit(status);
  return [
    ...(isSilent ? [] : [`task ${id} ${formatTaskState(status)}${why}`]),
    ...describePlace(place),
    ...describeWorktree(notice?.facts?.worktree),
    ...(notice || !rest.isOwned ? [] : [`the clean-up after ${id} continues in the background`]),
  ];
}

/** Describes warnings about the folder that the task was given. */
export function describePlace(place: Json | undefined): readonly string[] {
  if (typeof place !== "object" || place === null || Array.isArray(place)) return [];
  const { isParentDirty, warnings } = place as { readonly [key: string]: Json };
  return [
    ...(isParentDirty === true
      ? ["its worktree does not contain the uncommitted changes of the repository"]
      : []),
    ...(Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === "string") : []),
  ];
}

/** Describes the task's worktree from the notice. */
export function describeWorktree(facts: Json | undefined): readonly string[] {
  if (typeof facts !== "object" || facts === null || Array.isArray(facts)) return [];
  const { state, path, branch, isRemoved, why } = facts as { readonly [key: string]: Json };
  if (isRemoved === true && state === "changed")
    return [`another process removed its worktree; its commits are on the branch ${branch}`];
  if (isRemoved === true) return ["its worktree contained no changes and was removed"];
  if (typeof path === "string") return [`its worktree (${state}) is ${path}, on the branch ${branch}`];
  return why === undefined ? [] : [`the state of its worktree is unknown: ${why}`];
}

/** Builds the last JSON line of a followed task. */
export function toTaskEndJson(details: TaskDetails, exitCode: number): object {
  const { place, spent, notice } = details;
  return { type: "ended", exitCode, task: { ...toTaskJson(details), place, spent, notice } };
}
