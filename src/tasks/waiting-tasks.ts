import type { WaitingTask } from "../log/store/task-delivery.ts";
import type { TaskRecord, TaskStore } from "../log/store/task-store.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";

const PAGE_SIZE = 500;

/** The tasks that wait in queues for a worker, oldest first. */
export async function* listWaitingTasks(
  tasks: TaskStore,
  queues: readonly string[],
): AsyncGenerator<TaskRecord & WaitingTask> {
  for (let after: string | undefined; ; ) {
    const page = await tasks.openOf(undefined, { limit: PAGE_SIZE, ...dropUndefined({ after }) });
    for (const task of page) if (isWaitingIn(task, queues)) yield task;
    after = page.at(-1)?.id;
    if (page.length < PAGE_SIZE) return;
  }
}

function isWaitingIn(task: TaskRecord, queues: readonly string[]): task is TaskRecord & WaitingTask {
  return task.state === "queued" && task.queue !== undefined && queues.includes(task.queue);
}
