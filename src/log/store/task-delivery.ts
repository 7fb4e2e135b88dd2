import type { TaskId } from "../../model/task.ts";
import type { TaskRecord } from "./task-store.ts";

/** A task that waits in a queue for a worker. */
export type WaitingTask = Pick<TaskRecord, "id" | "agent" | "person"> & { readonly queue: string };

/** Limits of the tasks of queues that run at once, over all workers of a store. */
export interface DeliveryLimits {
  /** Tasks of one queue. */
  readonly maxPerQueue?: number;
  /** Tasks of one person, over all queues. */
  readonly maxPerPerson?: number;
}

/** Tasks that a worker can run now. */
export interface DeliveryRequest extends DeliveryLimits {
  readonly queues: readonly string[];
  readonly agents: readonly string[];
}

/** A task in the hands of a worker, until it is completed or put back, or the worker falls silent. */
export interface Delivery {
  readonly task: TaskId;
  readonly queue: string;
  readonly agent: string;
  /** Number of earlier deliveries of the task. */
  readonly attempt: number;
}

/** Settings of a delivery, the same in all processes of a store. */
export interface DeliverySettings {
  /** A worker that is silent for this long loses its tasks. */
  readonly leaseMs: number;
  readonly onWarning: (warning: string) => void;
}

/**
 * Hands waiting tasks to workers and watches these. It only proposes: the state of a task decides whether a worker may
 * run it, and a task may be delivered more than once.
 */
export interface TaskDelivery {
  /** Connects; from then on a write that lets a task wait also sends it. Throws PACKAGE_MISSING. */
  open(settings: DeliverySettings): Promise<void>;
  /** Makes sure that tasks of an agent can be sent to a queue. */
  prepare(queue: string, agent: string): Promise<void>;
  /** Begins to watch the workers of all queues. */
  watch(): Promise<void>;
  /** Hands out the next task that the limits allow. */
  take(request: DeliveryRequest): Promise<Delivery | undefined>;
  /** Says that the state of a delivered task has been written, or that it was left alone. */
  confirm(delivery: Delivery): Promise<void>;
  /** Reports that the worker lives; returns the deliveries that it still holds. */
  renew(deliveries: readonly Delivery[]): Promise<ReadonlySet<Delivery>>;
  /** Ends a delivery; does nothing if the worker no longer holds it. */
  complete(delivery: Delivery): Promise<void>;
  /** Returns a delivery, to be handed out again after a time; does nothing if the worker no longer holds it. */
  putBack(delivery: Delivery, delayMs: number): Promise<void>;
  /** Sends those of the waiting tasks that were never sent, or whose sending was lost; returns their number. */
  mend(tasks: readonly WaitingTask[]): Promise<number>;
  /** Stops watching; idempotent. */
  close(): Promise<void>;
}
