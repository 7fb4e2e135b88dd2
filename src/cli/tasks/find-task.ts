import { isLonghaulError, type Kernel, LonghaulError, type TaskId } from "../../index.ts";
import { nearestWords } from "../nearest.ts";
import { UsageError } from "../usage-error.ts";

const PAGE = 1_000;
const SHOWN = 5;
const MOST_FITTING = 100;

/**
 * Finds the task with that id, or the only task whose id begins or ends so. Throws TASK_NOT_FOUND with the nearest ids,
 * or ARGUMENT_INVALID with the matching ids if there are several.
 */
export async function findTask(kernel: Kernel, wanted: string | undefined): Promise<TaskId> {
  // Every id begins with "": an unset shell variable would name the only task.
  if (wanted === undefined || wanted === "")
    throw new UsageError('name a task; "longhaul task list" lists them');
  if (await isTask(kernel, wanted)) return wanted;
  const fitting: TaskId[] = [];
  let nearest: readonly TaskId[] = [];
  for await (const id of taskIds(kernel)) {
    if (id.startsWith(wanted) || id.endsWith(wanted)) fitting.push(id);
    if (fitting.length > MOST_FITTING) break;
    if (fitting.length === 0) nearest = nearestWords(wanted, [...nearest, id], SHOWN);
  }
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  throw only === undefined ? notFound(wanted, nearest) : ambiguous(wanted, fitting);
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

async function* taskIds(kernel: Kernel): AsyncGenerator<TaskId> {
  let before: TaskId | undefined;
  do {
    const page = await kernel.tasks.list({ limit: PAGE, ...(before !== undefined && { before }) });
    for (const { id } of page) yield id;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}

function notFound(wanted: string, nearest: readonly TaskId[]): LonghaulError {
  const hint =
    nearest.length > 0
      ? `Did you mean ${nearest.join(", ")}?`
      : '"longhaul task list --all" lists those there are.';
  return new LonghaulError("TASK_NOT_FOUND", `There is no task ${JSON.stringify(wanted)}. ${hint}`, {
    details: { task: wanted, ...(nearest.length > 0 && { nearest: nearest.join(", ") }) },
  });
}

function ambiguous(wanted: string, fitting: readonly TaskId[]): LonghaulError {
  const more = fitting.length > SHOWN ? `, and ${fitting.length - SHOWN} more` : "";
  return new LonghaulError(
    "ARGUMENT_INVALID",
    `${JSON.stringify(wanted)} fits several tasks: ${fitting.slice(0, SHOWN).join(", ")}${more}. Write more of the id.`,
    { details: { option: "task" } },
  );
}
