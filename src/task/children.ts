import { isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { TaskId, TaskState } from "../model/task.ts";
import type { TaskStore } from "../store/task-store.ts";
import type { AgentDriver } from "./agent-driver.ts";

const ACTIVE: readonly TaskState[] = ["queued", "running", "detaching"];
const CHILDREN_PER_PAGE = 500;

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

/** Calls `stop` for every unfinished child of a task; resolves when all are done. */
export async function stopChildren(
  tasks: TaskStore,
  parent: TaskId,
  stop: (child: TaskId) => Promise<void>,
): Promise<void> {
  for (let before: TaskId | undefined; ; ) {
    const query = {
      parent,
      states: ACTIVE,
      limit: CHILDREN_PER_PAGE,
      ...(before !== undefined && { before }),
    };
    const children = await tasks.list(query);
    await Promise.all(children.map((child) => stop(child.id)));
    before = children.at(-1)?.id;
    if (children.length < CHILDREN_PER_PAGE) return;
  }
}
