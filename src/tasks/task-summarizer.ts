import type { TaskRecord } from "../log/store/task-store.ts";
import type { SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import type { Closable } from "../model/lifetime.ts";
import type { TaskId } from "../model/task.ts";
import type { Journal } from "./journal.ts";

/**
 * Starts summarizing the activity of a shell; closed with the shell. `say` writes a sentence to the task's log and
 * never rejects: text that arrives after the shell's end is dropped, and a store failure becomes a warning.
 */
export type TaskSummarizer = (shell: {
  readonly task: TaskId;
  readonly session: SessionId;
  readonly epoch: number;
  say(text: string): Promise<void>;
}) => Closable;

/** Starts the summarizer of one shell, if configured. */
export function startSummary(
  begin: TaskSummarizer | undefined,
  journal: Journal,
  task: TaskRecord,
  onWarning: (warning: string) => void,
): Closable | undefined {
  const { id, session, epoch } = task;
  const say = async (text: string) => {
    try {
      await journal.writeEntries(task, epoch, [
        { body: { kind: "task", task: id, note: { type: "summary", text } } },
      ]);
    } catch (error) {
      if (!isLonghaulError(error, "TASK_CONFLICT"))
        onWarning(`A summary of task ${id} was not written: ${error}`);
    }
  };
  return begin?.({ task: id, session, epoch, say });
}
