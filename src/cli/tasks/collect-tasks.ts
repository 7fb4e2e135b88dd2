import {
  type CollectStaleResult,
  collectStale,
  listTagged,
  reapTagged,
  type TaskRecord,
} from "../../kernel/faces/task.ts";
import {
  isLonghaulError,
  isTerminal,
  type Kernel,
  TASK_STATES,
  type TaskId,
  type TaskState,
  type TaskStatus,
} from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { nearestWords } from "../terminal/nearest-words.ts";
import { UsageError } from "../usage-error.ts";

const PAGE_TASKS = 1_000;

/** Processes that carry the tag of one task. */
export interface TaskProcesses {
  readonly task: string;
  readonly pids: readonly number[];
  /** Number of processes that were ended, or would be in a dry run. */
  readonly ended: number;
  /** Reason why processes remain. */
  readonly why?: string;
}

/** Lists active tasks whose owner process is dead. */
export async function listDeadTasks(kernel: Kernel): Promise<readonly TaskId[]> {
  const dead: TaskId[] = [];
  for (const { id, owner } of await listActiveTasks(kernel))
    if (owner !== undefined && !(await kernel.tasks.sketch(id)).isOwned) dead.push(id);
  return dead;
}

/** Lists all tasks that have not ended, or those of a parent, a queue or a session. */
export async function listActiveTasks(
  kernel: Kernel,
  only: { readonly parent?: string; readonly queue?: string; readonly session?: string } = {},
): Promise<readonly TaskRecord[]> {
  const active: TaskRecord[] = [];
  for (let before: TaskId | undefined; ; ) {
    const query = { ...only, states: ACTIVE_STATES, limit: PAGE_TASKS, ...dropUndefined({ before }) };
    const page = await kernel.tasks.list(query);
    for (const one of page) active.push(one);
    before = page.at(-1)?.id;
    if (page.length < PAGE_TASKS) return active;
  }
}

/** Ends processes of tasks that have ended or no longer exist; leaves those of other stores and of running tasks. */
export async function collectProcesses(
  kernel: Kernel,
  { isDryRun, dead }: { readonly isDryRun: boolean; readonly dead: readonly TaskId[] },
): Promise<readonly TaskProcesses[]> {
  const collected: TaskProcesses[] = [];
  const tagged = await listTagged();
  // Read after the processes: every process in the list belongs to a task that had started before.
  const needed = new Set<string>();
  for (const { id } of await listActiveTasks(kernel))
    if (!dead.includes(id)) needed.add(await kernel.tasks.tag(id));
  const ofStore = (await kernel.tasks.tag("")).replace(/^.*~/, "~");
  for (const [tag, processes] of tagged) {
    if (!tag.endsWith(ofStore) || needed.has(tag)) continue;
    const task = tag.slice(0, -ofStore.length);
    const pids = processes.map(({ pid }) => pid);
    if (isDryRun) collected.push({ task, pids, ended: pids.length });
    else {
      const { ended, remaining } = await reapTagged(tag);
      const why = remaining.length > 0 ? { why: `${remaining.length} could not be ended` } : {};
      collected.push({ task, pids, ended, ...why });
    }
  }
  return collected;
}

/** Removes unused worktrees that hold no work, left by tasks of any store; undefined if this is not a repository. */
export async function collectWorktrees(
  kernel: Kernel,
  options: {
    readonly repository: string;
    readonly olderThanMs: number;
    readonly dryRun: boolean;
    readonly signal: AbortSignal;
  },
): Promise<CollectStaleResult | undefined> {
  const isLeased = async (_: string, task: string) => {
    const status = await findStatus(kernel, task);
    return status !== undefined && (!isTerminal(status.state) || status.notice === "due");
  };
  try {
    return await collectStale({ ...options, isLeased });
  } catch (error) {
    const isNone = isLonghaulError(error, "WORKTREE_REFUSED") && error.details.reason === "not-a-repository";
    if (isNone) return undefined;
    throw error;
  }
}

async function findStatus(kernel: Kernel, id: string): Promise<TaskStatus | undefined> {
  try {
    return await kernel.tasks.status(id);
  } catch (error) {
    if (isLonghaulError(error, "TASK_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** States of tasks that have not ended. */
export const ACTIVE_STATES: readonly TaskState[] = TASK_STATES.filter((state) => !isTerminal(state));
/** States of tasks that have ended. */
export const ENDED_STATES: readonly TaskState[] = TASK_STATES.filter(isTerminal);

/** Parses a comma-separated list of states; throws UsageError with the nearest state. */
export function parseStatesOption(text: string): readonly TaskState[] {
  return text.split(",").map((word) => {
    const state = TASK_STATES.find((one) => one === word.trim());
    if (state) return state;
    const [nearest] = nearestWords(word, TASK_STATES);
    const hint = nearest === undefined ? `expected ${TASK_STATES.join(", ")}` : `did you mean ${nearest}?`;
    throw new UsageError(`--state is ${JSON.stringify(word)}; ${hint}`);
  });
}
