import type { Json, TaskDetails } from "../../index.ts";
import { isPlainExit } from "./exit-code-of.ts";
import { stateWords, taskJson } from "./words.ts";

/** Describes the end of a followed task; empty if the program's exit code explains it. */
export function lastWords({ status, notice, place, spent: _, ...rest }: TaskDetails): readonly string[] {
  const { id, state, outcome } = status;
  const why = outcome?.error === undefined ? "" : `: ${outcome.error}`;
  const isSilent = state === "completed" || isPlainExit(status);
  return [
    ...(isSilent ? [] : [`task ${id} ${stateWords(status)}${why}`]),
    ...placeWords(place),
    ...worktreeWords(notice?.facts?.worktree),
    ...(notice || !rest.isOwned ? [] : [`the clean-up after ${id} continues in the background`]),
  ];
}

/** Describes warnings about the folder that the task was given. */
export function placeWords(place: Json | undefined): readonly string[] {
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
export function worktreeWords(facts: Json | undefined): readonly string[] {
  if (typeof facts !== "object" || facts === null || Array.isArray(facts)) return [];
  const { state, path, branch, isRemoved, why } = facts as { readonly [key: string]: Json };
  if (isRemoved === true && state === "changed")
    return [`another process removed its worktree; its commits are on the branch ${branch}`];
  if (isRemoved === true) return ["its worktree contained no changes and was removed"];
  if (typeof path === "string") return [`its worktree (${state}) is ${path}, on the branch ${branch}`];
  return why === undefined ? [] : [`the state of its worktree is unknown: ${why}`];
}

/** Builds the last JSON line of a followed task. */
export function endJson(details: TaskDetails, exitCode: number): object {
  const { place, spent, notice } = details;
  return { type: "ended", exitCode, task: { ...taskJson(details), place, spent, notice } };
}
