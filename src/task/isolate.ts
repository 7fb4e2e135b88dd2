import type { TaskId } from "../model/task.ts";
import type { Isolation } from "./after-end.ts";
import { withinDeadline } from "./deadline.ts";
import type { Journal } from "./journal.ts";
import type { TaskLimits } from "./limits.ts";
import type { Run } from "./run.ts";
import type { Shell } from "./shell.ts";
import { type StoringParts, untilStored } from "./until-stored.ts";

/** What isolating needs. */
export interface IsolateParts extends StoringParts {
  readonly journal: Journal;
  readonly limits: TaskLimits;
  readonly isolations: Readonly<Record<string, Isolation>>;
  /** What processes of a task are found by. */
  readonly tagOf: (task: TaskId) => Promise<string>;
}

/** Makes the place that a task works in, if it is to have one of its own; a place that nobody will know of is settled at once. */
export async function isolate(parts: IsolateParts, run: Run<never>, shell: Shell): Promise<void> {
  const { plan, place } = run.memory;
  if (plan?.isolation === undefined || (run.cause === "detach" && place !== undefined)) return;
  const { isolations, timer, limits, journal } = parts;
  const isolation = isolations[plan.isolation];
  if (!isolation) throw new Error(`The isolation ${plan.isolation} is not known here.`);
  const { id } = run.task;
  const limitMs = isolation.limitMs ?? limits.stepMs;
  const tag = await parts.tagOf(id);
  const made = await withinDeadline(timer, limitMs, (signal) =>
    isolation.prepare(id, plan, AbortSignal.any([signal, shell.signal]), tag),
  );
  if (made.type === "late") throw new Error(`The isolation ${plan.isolation} was not ready in time.`);
  if (made.type === "failed") throw made.error;
  try {
    const note = { type: "isolated", place: made.value } as const;
    const items = [{ body: { kind: "task", task: id, note } }] as const;
    await untilStored(parts, shell.signal, id, () => journal.say(run.task, shell.epoch, items));
  } catch (error) {
    await withinDeadline(timer, limitMs, (signal) => isolation.settle(id, made.value, signal, tag));
    throw error;
  }
  run.memory = { ...run.memory, place: made.value };
}
