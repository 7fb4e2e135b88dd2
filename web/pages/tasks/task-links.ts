import { buildPath } from "../../shell/match-path.ts";

/** The address of a task. */
export function linkToTask(task: string): string {
  return buildPath("/tasks/:task", { task });
}
