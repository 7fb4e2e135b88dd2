import { buildPath } from "../../shell/match-path.ts";

/** The address of a task. */
export function linkToTask(task: string): string {
  return buildPath("/tasks/:task", { task });
}

/** The list of the tasks of a queue or a person. */
export function linkToTasks(filter: { readonly queue: string } | { readonly person: string }): string {
  return `/tasks?${new URLSearchParams({ ...filter })}`;
}
