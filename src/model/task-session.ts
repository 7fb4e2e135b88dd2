import type { Json } from "./json.ts";
import type { TaskId } from "./task.ts";

/** Marks a session that was made only for a task. */
export function buildTaskMeta(task: TaskId): { readonly [key: string]: Json } {
  return { task };
}

/** The task that a session was made for; undefined for a conversation. */
export function findOwnTask({
  meta,
}: {
  readonly meta?: { readonly [key: string]: Json };
}): TaskId | undefined {
  return typeof meta?.task === "string" ? meta.task : undefined;
}
