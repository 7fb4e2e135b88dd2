import type { SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import type { Closable } from "../model/scope.ts";
import type { TaskId } from "../model/task.ts";
import type { TaskRecord } from "../store/task-store.ts";
import type { Journal } from "./journal.ts";

/**
 * Begins to sum up what a shell does; closed with the shell. `say` writes a sentence to the task's log. It never rejects:
 * what comes after the shell's end is dropped, and a store that fails is warned of.
 */
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
  onWarning: (warning: string) => void,
): Closable | undefined {
  const { id, session, epoch } = task;
  const say = async (text: string) => {
    try {
      await journal.say(task, epoch, [{ body: { kind: "task", task: id, note: { type: "summary", text } } }]);
    } catch (error) {
      if (!isLonghaulError(error, "TASK_CONFLICT"))
        onWarning(`A summary of task ${id} was not written: ${error}`);
    }
  };
  return begin?.({ task: id, session, epoch, say });
}
