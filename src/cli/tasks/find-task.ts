import { isLonghaulError, type Kernel, type TaskId } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findId } from "../find-id.ts";
import { UsageError } from "../usage-error.ts";

const PAGE = 1_000;

/**
 * Finds the task with that id, or the only task whose id begins or ends so. Throws TASK_NOT_FOUND with the nearest ids,
 * or ARGUMENT_INVALID with the matching ids if there are several.
 */
export async function findTask(kernel: Kernel, wanted: string | undefined): Promise<TaskId> {
  // Every id begins with "": an unset shell variable would name the only task.
  if (wanted === undefined || wanted === "")
    throw new UsageError('name a task; "longhaul task list" lists them');
  if (await isTask(kernel, wanted)) return wanted;
  return findId(wanted, {
    kind: "task",
    ids: listTaskIds(kernel),
    fits: (id) => id.startsWith(wanted) || id.endsWith(wanted),
    notFound: "TASK_NOT_FOUND",
    listing: "longhaul task list --all",
  });
}

async function isTask(kernel: Kernel, id: string): Promise<boolean> {
  try {
    await kernel.tasks.status(id);
    return true;
  } catch (error) {
    if (isLonghaulError(error, "TASK_NOT_FOUND")) return false;
    throw error;
  }
}

async function* listTaskIds(kernel: Kernel): AsyncGenerator<TaskId> {
  let before: TaskId | undefined;
  do {
    const page = await kernel.tasks.list({ limit: PAGE, ...dropUndefined({ before }) });
    for (const { id } of page) yield id;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}
