import type { Log } from "../log/log.ts";
import { prepareBody } from "../log/prepare-body.ts";
import type { ReadyBody } from "../log/spilled-parts.ts";
import type { EntryBody } from "../model/entry.ts";
import { createArgumentError, isLonghaulError } from "../model/errors.ts";
import type { LoopGuard, TaskNote } from "../model/task.ts";
import type { AgentEvent } from "./agent.ts";
import type { AgentDriver } from "./agent-driver.ts";
import type { Journal } from "./journal.ts";
import { DEFAULT_LOOP_GUARD } from "./loop-guard.ts";
import { type RetryStoreDeps, retryStore } from "./retry-store.ts";
import {
  describeOverrun,
  describeUncounted,
  type PriceLookup,
  priceUsageEvent,
  spendStep,
  spendUsage,
} from "./task-budget.ts";
import type { TaskProgress } from "./task-progress.ts";
import type { TaskRun } from "./task-run.ts";

/** A task exceeded its budget or repeats the same call. */
export class Overrun extends Error {
  readonly reason: "budget" | "loop";

  constructor(reason: "budget" | "loop", message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The task has another owner or has ended. */
export class OwnershipLostError extends Error {}

/** Dependencies of `takeEvent`. */
interface RecordEventDeps extends RetryStoreDeps {
  readonly log: Log;
  readonly journal: Journal;
  readonly modelFacts: PriceLookup;
}

/**
 * Writes an agent's event and adds its usage; throws Overrun when a limit is exceeded, OwnershipLostError
 * when the run may not write.
 */
export async function recordEvent(
  parts: RecordEventDeps,
  run: TaskRun<never>,
  shell: AgentDriver,
  given: AgentEvent,
): Promise<void> {
  const { log, journal, modelFacts } = parts;
  const { task } = run;
  const event = given?.type === "usage" ? priceUsageEvent(given, run.agent.model, modelFacts) : given;
  const guard = run.progress.plan?.loopGuard ?? DEFAULT_LOOP_GUARD;
  const loop = findLoop(run, event, guard);
  const making = toBody(log, task.id, event);
  const items: ReadyBody<EntryBody>[] = [making instanceof Promise ? await making : making];
  if (loop) items.push({ body: { kind: "task", task: task.id, note: loop } });
  try {
    await retryStore(parts, shell.signal, task.id, () => journal.writeEntries(task, shell.epoch, items));
  } catch (error) {
    if (isLonghaulError(error, "TASK_CONFLICT") || isLonghaulError(error, "SESSION_NOT_FOUND"))
      throw new OwnershipLostError("The task is not ours any more.", { cause: error });
    throw error;
  }
  run.progress = applyEvent(run.progress, event);
  const uncounted = event.type === "usage" && describeUncounted(event, run.progress.plan?.budget);
  if (uncounted) throw new Overrun("budget", uncounted);
  const over = describeOverrun(run.progress.spent, run.progress.plan?.budget);
  if (over !== undefined) throw new Overrun("budget", `The budget is used up: ${over}.`);
  if (loop && guard.isStopping)
    throw new Overrun(
      "loop",
      `${loop.call} was called ${loop.repeats} times in a row with the same arguments and result.`,
    );
}

function toBody(log: Log, task: string, event: AgentEvent): ReadyBody | Promise<ReadyBody> {
  switch (event?.type) {
    case "message":
      return prepareBody(log, { kind: "message", message: event.message });
    case "usage": {
      const { type: _, ...rest } = event;
      return { body: { kind: "usage", ...rest, meta: { ...event.meta, task } } };
    }
    case "output":
    case "call":
    case "step":
    case "result":
    case "checkpoint":
    case "summary":
      return { body: { kind: "task", task, note: event } };
    default:
      throw createArgumentError(
        "event.type",
        (event as { type?: unknown } | undefined)?.type,
        "message, usage, output, call, step, result, checkpoint or summary",
      );
  }
}

function applyEvent(memory: TaskProgress, event: AgentEvent): TaskProgress {
  switch (event.type) {
    case "usage":
      return { ...memory, spent: spendUsage(memory.spent, event.usage) };
    case "step":
      return { ...memory, spent: spendStep(memory.spent) };
    case "result":
      return { ...memory, result: event.value };
    case "checkpoint":
      return { ...memory, checkpoint: event.value };
    default:
      return memory;
  }
}

/** Returns a note for every `repeats` identical calls in a row. */
function findLoop(
  run: TaskRun<never>,
  event: AgentEvent,
  { repeats }: LoopGuard,
): Extract<TaskNote, { type: "loop" }> | undefined {
  const calls =
    event?.type === "call"
      ? [event]
      : event?.type === "message"
        ? run.loops.takeFinishedCalls(event.message)
        : [];
  for (const call of calls) {
    const count = run.loops.countRepeats(call);
    if (count % repeats === 0) return { type: "loop", call: call.name, repeats: count };
  }
  return undefined;
}
