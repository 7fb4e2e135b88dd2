import { randomUUID } from "node:crypto";
import type { Store } from "../log/store/store.ts";
import type { Delivery, DeliveryRequest, TaskDelivery } from "../log/store/task-delivery.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Clock } from "../model/clock.ts";
import type { TaskId } from "../model/task.ts";
import { listWaitingTasks } from "./waiting-tasks.ts";

/** One worker of the store takes a task at a time: two could see the same gap in a limit. */
const TAKING_LEASE = "taking tasks";
/** Time in which a worker writes the state of a task that it has taken. */
const TAKING_MS = 10_000;
const PAGE_SIZE = 500;

/** Delivers tasks by looking at the store, for stores that one machine uses; the leases of owners show which tasks lost their worker. */
export class PolledDelivery implements TaskDelivery {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #owner = randomUUID();
  /** Tasks that were put back, and until when. */
  readonly #delayed = new Map<TaskId, number>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async open(): Promise<void> {}

  async prepare(): Promise<void> {}

  async watch(): Promise<void> {}

  async take(request: DeliveryRequest): Promise<Delivery | undefined> {
    const { leases } = this.#store;
    const now = this.#clock.now();
    if ((await this.#findNext(request)) === undefined) return undefined;
    const lease = { name: TAKING_LEASE, owner: this.#owner, expiresAt: now + TAKING_MS };
    if (await leases.claim(lease, now)) return undefined;
    const next = await this.#findNext(request).catch(async (error) => {
      await this.#release();
      throw error;
    });
    if (!next) await this.#release();
    return next;
  }

  confirm(): Promise<void> {
    return this.#release();
  }

  async renew(deliveries: readonly Delivery[]): Promise<ReadonlySet<Delivery>> {
    return new Set(deliveries);
  }

  async complete({ task }: Delivery): Promise<void> {
    this.#delayed.delete(task);
  }

  async putBack({ task }: Delivery, delayMs: number): Promise<void> {
    const now = this.#clock.now();
    for (const [id, until] of this.#delayed) if (until <= now) this.#delayed.delete(id);
    this.#delayed.set(task, now + delayMs);
  }

  async mend(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {
    await this.#release();
  }

  #release(): Promise<void> {
    return this.#store.leases.release(TAKING_LEASE, this.#owner);
  }

  async #findNext(request: DeliveryRequest): Promise<Delivery | undefined> {
    const { queues, agents, maxPerQueue, maxPerPerson } = request;
    let busy: BusyCounts | undefined;
    for await (const { id, agent, queue, person = "local", resumes } of listWaitingTasks(
      this.#store.tasks,
      queues,
    )) {
      if (!agents.includes(agent) || (this.#delayed.get(id) ?? 0) > this.#clock.now()) continue;
      if (maxPerQueue !== undefined || maxPerPerson !== undefined) {
        busy ??= await this.#countBusy();
        if ((busy.queues.get(queue) ?? 0) >= (maxPerQueue ?? Number.POSITIVE_INFINITY)) continue;
        if ((busy.people.get(person) ?? 0) >= (maxPerPerson ?? Number.POSITIVE_INFINITY)) continue;
      }
      return { task: id, queue, agent, attempt: resumes };
    }
    return undefined;
  }

  async #countBusy(): Promise<BusyCounts> {
    const counts: BusyCounts = { queues: new Map(), people: new Map() };
    for (let before: TaskId | undefined; ; ) {
      const page = await this.#store.tasks.list({
        states: ["running", "detaching"],
        limit: PAGE_SIZE,
        ...dropUndefined({ before }),
      });
      for (const { queue, person = "local" } of page) {
        if (queue === undefined) continue;
        counts.queues.set(queue, (counts.queues.get(queue) ?? 0) + 1);
        counts.people.set(person, (counts.people.get(person) ?? 0) + 1);
      }
      before = page.at(-1)?.id;
      if (page.length < PAGE_SIZE) return counts;
    }
  }
}

/** Running tasks by queue and by person. */
interface BusyCounts {
  readonly queues: Map<string, number>;
  readonly people: Map<string, number>;
}
