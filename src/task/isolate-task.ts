import type { Json } from "../model/json.ts";
import type { TaskId, TaskPlan } from "../model/task.ts";
import type { Isolation } from "./after-end.ts";
import type { AgentDriver } from "./agent-driver.ts";
import type { Journal } from "./journal.ts";
import { type RetryStoreDeps, retryStore } from "./retry-store.ts";
import type { TaskLimits } from "./task-options.ts";
import type { TaskRun } from "./task-run.ts";
import { runWithDeadline } from "./timer.ts";

/** Dependencies of `isolate`. */
export interface IsolateTaskDeps extends RetryStoreDeps {
  readonly journal: Journal;
  readonly limits: TaskLimits;
  readonly isolations: Readonly<Record<string, Isolation>>;
  /** Tracks work that continues after a task has ended. */
  readonly track: (task: TaskId, work: Promise<void>) => void;
  /** The tag that processes of a task carry. */
  readonly tagOf: (task: TaskId) => Promise<string>;
}

/** Creates the place of an isolated task; a place that cannot be recorded is settled at once. */
export async function isolateTask(
  parts: IsolateTaskDeps,
  run: TaskRun<never>,
  shell: AgentDriver,
): Promise<void> {
  const { plan, place } = run.progress;
  if (plan?.isolation === undefined || (run.cause === "detach" && place !== undefined)) return;
  const isolation = parts.isolations[plan.isolation];
  if (!isolation) throw new Error(`The isolation ${plan.isolation} is not known here.`);
  const { timer, limits, track } = parts;
  const limitMs = isolation.limitMs ?? limits.stepMs;
  const begun: Promise<unknown>[] = [];
  const work = createPlace(parts, run, shell, {
    isolation,
    plan,
    limitMs,
    trackWork: (one) => begun.push(one),
  });
  // A stopped task does not wait for the place, but the process does, because unfinished work must be undone.
  const over = Promise.allSettled([work]).then(() => Promise.allSettled(begun));
  const cleaned = runWithDeadline(timer, 2 * limitMs, () => over, shell.signal).then(async () => {
    await runWithDeadline(timer, limits.closeMs, () => over);
  });
  track(run.task.id, cleaned);
  await work;
}

interface PlaceRequest {
  readonly isolation: Isolation;
  readonly plan: TaskPlan;
  readonly limitMs: number;
  /** Registers work that continues even if the task no longer waits for it. */
  readonly trackWork: (work: Promise<unknown>) => void;
}

async function createPlace(
  parts: IsolateTaskDeps,
  run: TaskRun<never>,
  shell: AgentDriver,
  making: PlaceRequest,
): Promise<void> {
  const { timer, journal } = parts;
  const { isolation, plan, limitMs } = making;
  const { id } = run.task;
  const tag = await parts.tagOf(id);
  const settle = (place: Json) =>
    runWithDeadline(timer, limitMs, (signal) => isolation.settle(id, place, signal, tag));
  let preparing: Promise<Json> | undefined;
  const made = await runWithDeadline(timer, limitMs, (signal) => {
    preparing = isolation.prepare(id, plan, AbortSignal.any([signal, shell.signal]), tag);
    return preparing;
  });
  if (made.type === "late") {
    if (preparing) making.trackWork(preparing.then(settle));
    throw new Error(`The isolation ${plan.isolation} was not ready in time.`);
  }
  if (made.type === "failed") throw made.error;
  try {
    const note = { type: "isolated", place: made.value } as const;
    const items = [{ body: { kind: "task", task: id, note } }] as const;
    await retryStore(parts, shell.signal, id, () => journal.writeEntries(run.task, shell.epoch, items));
  } catch (error) {
    await settle(made.value);
    throw error;
  }
  run.progress = { ...run.progress, place: made.value };
}
