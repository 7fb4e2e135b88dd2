import type { DeliveryLimits } from "../log/store/task-delivery.ts";
import { checkFields } from "../model/argument-checks.ts";
import { checkNames } from "../model/edit-distance.ts";
import { checkWholeNumber, createArgumentError } from "../model/errors.ts";
import { checkQueueName } from "./task-plan.ts";

/** The queue of a worker that names none. */
const DEFAULT_QUEUE = "default";

/** Options of a worker; all have defaults. Give all workers of a store the same limits. */
export interface WorkOptions extends DeliveryLimits {
  /** Queues to take tasks from; "default" by default. */
  readonly queues?: readonly string[];
  /** Tasks that this worker runs at once; 4 by default. */
  readonly concurrency?: number;
  /** Called when a task begins here, and when it has ended, was handed back, or was taken by another worker. */
  readonly onTask?: (event: WorkEvent) => void;
}

/** The beginning or the end of a task at a worker. */
export interface WorkEvent {
  readonly type: "taken" | "ended" | "left";
  readonly task: string;
  readonly queue: string;
  readonly agent: string;
}

const WORK_OPTIONS = ["queues", "concurrency", "onTask", "maxPerQueue", "maxPerPerson"];

/** The options with their defaults, checked. */
export function resolveWorkOptions(options: WorkOptions): Omit<WorkOptions, "queues" | "concurrency"> & {
  readonly queues: readonly string[];
  readonly concurrency: number;
} {
  checkFields("options", options, { queues: "array?", onTask: "function?" });
  checkNames("options", options, WORK_OPTIONS);
  const { queues = [DEFAULT_QUEUE], concurrency = 4, maxPerQueue, maxPerPerson } = options;
  if (queues.length === 0) throw createArgumentError("queues", queues, "at least one queue");
  for (const queue of queues) checkQueueName(queue);
  if (maxPerQueue !== undefined) checkWholeNumber("maxPerQueue", maxPerQueue, 1);
  if (maxPerPerson !== undefined) checkWholeNumber("maxPerPerson", maxPerPerson, 1);
  return {
    ...options,
    queues: [...new Set(queues)],
    concurrency: checkWholeNumber("concurrency", concurrency, 1, 1_000),
  };
}
