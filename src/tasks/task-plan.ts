import { resolve } from "node:path";
import type { NewSession } from "../log/store/session-store.ts";
import type { TaskRecord } from "../log/store/task-store.ts";
import { checkFields } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { checkNames } from "../model/edit-distance.ts";
import { checkSessionId } from "../model/entry.ts";
import { checkWholeNumber, createArgumentError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { TaskId, TaskMode, TaskPlan } from "../model/task.ts";
import { buildTaskMeta } from "../model/task-session.ts";
import type { StartOptions } from "./start-options.ts";
import { checkBudget } from "./task-budget.ts";

const START_OPTIONS: Readonly<Record<keyof StartOptions, true>> = {
  id: true,
  mode: true,
  title: true,
  session: true,
  parentSession: true,
  isolation: true,
  repository: true,
  deadlineMs: true,
  budget: true,
  loopGuard: true,
  queue: true,
  person: true,
  signal: true,
};

/** Input of `buildTaskPlan`. */
interface TaskPlanInput {
  readonly id: TaskId;
  readonly agent: string;
  readonly input: Json;
  readonly options: StartOptions;
  readonly now: number;
  readonly isolations: Readonly<Record<string, unknown>>;
  /** Repository of the worktree if the options name none. */
  readonly repository?: string;
  readonly parent?: TaskRecord;
}

/** Returns the name of a queue; throws ARGUMENT_INVALID. */
export function checkQueueName(name: string): string {
  if (typeof name === "string" && /^[\w.-]{1,60}$/.test(name)) return name;
  throw createArgumentError("queue", name, "1 to 60 letters, digits, points, hyphens and underscores");
}

function checkQueue(queue: string, person: string, mode: TaskMode): void {
  checkQueueName(queue);
  if (typeof person !== "string" || person === "" || person.length > 256 || person.includes("\0"))
    throw createArgumentError("person", person, "a name of 1 to 256 characters");
  if (mode === "foreground")
    throw createArgumentError("mode", mode, '"background" for a task of a queue, which a worker runs');
}

/** Builds the plan of a task and the session it works in; throws ARGUMENT_INVALID. */
export function buildTaskPlan(source: TaskPlanInput): {
  readonly plan: TaskPlan;
  readonly session: NewSession;
} {
  const { id, agent, input, options, now, isolations, parent } = source;
  checkFields("options", options, { repository: "name?", budget: "object?", loopGuard: "object?" });
  checkNames("options", options, Object.keys(START_OPTIONS));
  const { mode = "background", title, budget, loopGuard, deadlineMs } = options;
  if (mode !== "foreground" && mode !== "background")
    throw createArgumentError("mode", mode, '"foreground" or "background"');
  if (title !== undefined && typeof title !== "string") throw createArgumentError("title", title, "a text");
  if (typeof input === "function" || typeof input === "symbol")
    throw createArgumentError("input", String(input), "a value that JSON can hold");
  const isolation = options.isolation === "none" ? undefined : options.isolation;
  if (isolation !== undefined && !Object.hasOwn(isolations, isolation))
    throw createArgumentError("isolation", isolation, ["none", ...Object.keys(isolations)].join(", "));
  const { repository = source.repository } = options;
  if (loopGuard) {
    checkNames("loopGuard", loopGuard, ["repeats", "isStopping"]);
    checkWholeNumber("loopGuard.repeats", loopGuard.repeats, 2);
  }
  const parentSession = options.parentSession ?? parent?.session;
  if (parentSession !== undefined) checkSessionId(parentSession);
  const sessionId = checkSessionId(options.session ?? id);
  const isChild = parentSession !== undefined && parentSession !== sessionId;
  const { queue, person = parent?.person ?? "local" } = options;
  if (queue !== undefined) checkQueue(queue, person, mode);
  else if (options.person !== undefined)
    throw createArgumentError("person", options.person, "nothing without a queue, whose limits count by it");
  return {
    plan: {
      agent,
      input,
      mode,
      ...dropUndefined({ title }),
      ...(parent && { parent: parent.id }),
      ...(isChild && { parentSession }),
      ...dropUndefined({ isolation }),
      ...(isolation !== undefined && repository !== undefined && { repository: resolve(repository) }),
      ...(deadlineMs !== undefined && { deadlineAt: now + checkWholeNumber("deadlineMs", deadlineMs, 1) }),
      ...(budget && { budget: checkBudget(budget) }),
      ...dropUndefined({ loopGuard }),
      ...(queue !== undefined && { queue, person }),
    },
    session: {
      id: sessionId,
      createdAt: now,
      ...dropUndefined({ title }),
      ...(isChild && { parent: parentSession, relation: "child" as const }),
      ...(options.session === undefined && { meta: buildTaskMeta(id) }),
    },
  };
}
