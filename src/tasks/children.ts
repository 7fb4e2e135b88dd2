import type { TaskQuery, TaskRecord, TaskStore } from "../log/store/task-store.ts";
import { isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { TaskId, TaskState } from "../model/task.ts";
import type { AgentDriver } from "./agent-driver.ts";

const ACTIVE: readonly TaskState[] = ["queued", "running", "detaching"];
const TASKS_PER_PAGE = 500;

/** Starts a child under its parent's current epoch; throws ABORTED if the parent has ended in this process. */
export async function startChildTask<Started>(
  parent: TaskId,
  shell: AgentDriver,
  start: (epoch: number) => Promise<Started>,
): Promise<Started> {
  for (;;) {
    const { epoch } = shell;
    try {
      return await start(epoch);
    } catch (error) {
      const isOfParent = isLonghaulError(error, "TASK_CONFLICT") && error.details.task === parent;
      if (!isOfParent) throw error;
      // The task has moved to the background meanwhile, within the same call of its agent.
      if (shell.epoch !== epoch && !shell.isStopped) continue;
      throw new LonghaulError("ABORTED", `Task ${parent} has ended here and starts no more children.`);
    }
  }
}

/** All tasks of a query that have not ended. */
export async function listUnfinishedTasks(
  tasks: TaskStore,
  query: Pick<TaskQuery, "parent" | "queue" | "session">,
): Promise<readonly TaskRecord[]> {
  const found: TaskRecord[] = [];
  for (let before: TaskId | undefined; ; ) {
    const place = before === undefined ? {} : { before };
    const page = await tasks.list({ ...query, ...place, states: ACTIVE, limit: TASKS_PER_PAGE });
    for (const task of page) found.push(task);
    before = page.at(-1)?.id;
    if (page.length < TASKS_PER_PAGE) return found;
  }
}

/** Calls `stop` for every unfinished child of a task; resolves when all are done. */
export async function stopChildren(
  tasks: TaskStore,
  parent: TaskId,
  stop: (child: TaskId) => Promise<void>,
): Promise<void> {
  await Promise.all((await listUnfinishedTasks(tasks, { parent })).map((child) => stop(child.id)));
}
