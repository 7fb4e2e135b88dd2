import type { SessionId } from "../model/entry.ts";
import type { Closable } from "../model/scope.ts";
import type { TaskId } from "../model/task.ts";
import type { TaskRecord } from "../store/task-store.ts";
import type { Journal } from "./journal.ts";

/** Begins to sum up what a shell does; closed with the shell. `say` writes a sentence to the task's log. */
export type Summariser = (shell: {
  readonly task: TaskId;
  readonly session: SessionId;
  readonly epoch: number;
  say(text: string): Promise<void>;
}) => Closable;

/** Begins the summariser of one shell, if there is to be one. */
export function beginSummary(
  begin: Summariser | undefined,
  journal: Journal,
  task: TaskRecord,
  epoch: number,
): Closable | undefined {
  return begin?.({
    task: task.id,
    session: task.session,
    epoch,
    say: (text) =>
      journal.say(task, epoch, [{ body: { kind: "task", task: task.id, note: { type: "summary", text } } }]),
  });
}
