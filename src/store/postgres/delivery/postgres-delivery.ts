import type { PgBoss } from "pg-boss";
import type {
  Delivery,
  DeliveryRequest,
  DeliverySettings,
  TaskDelivery,
  WaitingTask,
} from "../../task-delivery.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import { compareClocks } from "./compare-clocks.ts";
import { findFull, findWaitingQueues } from "./delivery-room.ts";
import { toJobId, toJobQueue, toJobSchema } from "./job-names.ts";
import { startBoss, toBossDatabase } from "./load-boss.ts";

/** Minimum of pg-boss. */
const MIN_HEARTBEAT_SECONDS = 10;
/** A job of a task that runs longer is delivered again and put back, because the task has an owner. */
const MAX_JOB_SECONDS = 24 * 60 * 60;
const KEEP_ENDED_SECONDS = 60 * 60;
const KEEP_WAITING_SECONDS = 365 * 24 * 60 * 60;
/** Tasks decide for themselves how often they are resumed. */
const MAX_DELIVERIES = 1_000_000;

/** The content of a job. */
interface JobData {
  readonly task: string;
  readonly queue: string;
  readonly agent: string;
  readonly person: string;
}

/**
 * Delivers tasks by pg-boss: one job for each task that waits in a queue, sent by the transaction that lets the task
 * wait. Heartbeats, repeated deliveries and the fence between two attempts are those of pg-boss; tasks do not rely on
 * them to be right.
 */
export class PostgresDelivery implements TaskDelivery {
  readonly #db: PostgresDatabase;
  readonly #jobs: string;
  readonly #prepared = new Map<string, Promise<void>>();
  #settings: DeliverySettings | undefined;
  #boss: Promise<PgBoss> | undefined;
  #isOpen = false;
  #isWatching = false;
  #turn = 0;

  constructor(db: PostgresDatabase) {
    this.#db = db;
    this.#jobs = toJobSchema(db.schema);
  }

  async open(settings: DeliverySettings): Promise<void> {
    this.#settings ??= settings;
    await this.#start();
  }

  async prepare(queue: string, agent: string): Promise<void> {
    const name = toJobQueue(queue, agent);
    let preparing = this.#prepared.get(name);
    if (!preparing) {
      preparing = this.#createQueue(name).catch((error) => {
        this.#prepared.delete(name);
        throw error;
      });
      this.#prepared.set(name, preparing);
    }
    await preparing;
  }

  async watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    await this.#stop();
    await this.#start();
    const warning = await compareClocks(this.#db);
    if (warning !== undefined) this.#settings?.onWarning(warning);
  }

  async take(request: DeliveryRequest): Promise<Delivery | undefined> {
    const waiting = await findWaitingQueues(this.#db, this.#jobs, request);
    if (waiting.length === 0) return undefined;
    const boss = await this.#start();
    // Queues take turns, so that none starves behind another.
    const first = this.#turn++ % waiting.length;
    const turns = [...waiting.slice(first), ...waiting.slice(0, first)];
    return this.#db.transact(async (transaction) => {
      const full = await findFull(transaction, { schema: this.#db.schema, jobs: this.#jobs }, request);
      const ignoreGroups = full.people.length > 0 ? full.people : null;
      for (const { queue, name } of turns) {
        if (full.queues.has(queue)) continue;
        const [job] = await boss.fetch<JobData>(name, {
          db: toBossDatabase(transaction),
          includeMetadata: true,
          ignoreGroups,
        });
        if (job) return { task: job.data.task, queue, agent: job.data.agent, attempt: job.retryCount };
      }
      return undefined;
    });
  }

  async confirm(): Promise<void> {}

  async renew(deliveries: readonly Delivery[]): Promise<ReadonlySet<Delivery>> {
    const boss = await this.#start();
    const held = new Set<Delivery>();
    for (const [name, some] of Map.groupBy(deliveries, toQueueOf)) {
      const count = countAffected(await boss.touch(name, some.map(toAttempt)));
      // Only where one is missing, each is asked for.
      for (const delivery of some)
        if (count === some.length || countAffected(await boss.touch(name, toAttempt(delivery))) > 0)
          held.add(delivery);
    }
    return held;
  }

  async complete(delivery: Delivery): Promise<void> {
    const boss = await this.#start();
    await boss.complete(toQueueOf(delivery), toAttempt(delivery));
  }

  async putBack(delivery: Delivery, delayMs: number): Promise<void> {
    const boss = await this.#start();
    const name = toQueueOf(delivery);
    await this.#db.transact(async (transaction) => {
      const db = toBossDatabase(transaction);
      const affected = countAffected(await boss.fail(name, toAttempt(delivery), null, { db }));
      const startAfter = Math.ceil(delayMs / 1_000);
      if (affected > 0 && startAfter > 0)
        await boss.update(name, undefined, { id: toJobId(delivery.task), startAfter, db });
    });
  }

  /** Within the transaction that lets a task wait. Tasks of queues that were not prepared here are sent by a worker later. */
  async send(transaction: Transaction, task: WaitingTask): Promise<void> {
    const { id: taskId, queue, agent, person = "local" } = task;
    const name = toJobQueue(queue, agent);
    if (!this.#isOpen || !this.#prepared.has(name)) return;
    const boss = await this.#start();
    const db = toBossDatabase(transaction);
    const id = toJobId(taskId);
    const data: JobData = { task: taskId, queue, agent, person };
    const options = { id, group: { id: person }, db };
    if ((await boss.send(name, data, options)) !== null) return;
    const [known] = await boss.findJobs<JobData>(name, { id, db });
    if (known?.state === "created" || known?.state === "retry") {
      await boss.update(name, undefined, { id, startAfter: 0, db });
    } else if (known?.state === "active") {
      // Its worker is dead, or hands it back just now; later calls of that worker for this job are refused.
      await boss.fail(name, id, null, { db });
    } else {
      await boss.deleteJob(name, id, { db });
      await boss.send(name, data, options);
    }
  }

  async mend(tasks: readonly WaitingTask[]): Promise<number> {
    const live = await this.#db.run(
      `SELECT id FROM "${this.#jobs}".job WHERE id = ANY($1::uuid[]) AND state <= 'active'`,
      [tasks.map(({ id }) => toJobId(id))],
    );
    const known = new Set(live.rows.map(({ id }) => id as string));
    let sent = 0;
    for (const task of tasks) {
      if (known.has(toJobId(task.id))) continue;
      await this.prepare(task.queue, task.agent);
      await this.#db.transact(async (transaction) => {
        const [row] = await transaction.query(
          "SELECT 1 FROM @tasks WHERE id = $1 AND state = 'queued' AND owner IS NULL FOR NO KEY UPDATE",
          [task.id],
        );
        if (row) await this.send(transaction, task);
      });
      sent++;
    }
    return sent;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#stop();
  }

  #start(): Promise<PgBoss> {
    const { onWarning = () => undefined } = this.#settings ?? {};
    this.#boss ??= startBoss(this.#db, { isWatching: this.#isWatching, onWarning }).then(
      (boss) => {
        this.#isOpen = true;
        return boss;
      },
      (error) => {
        this.#boss = undefined;
        throw error;
      },
    );
    return this.#boss;
  }

  async #stop(): Promise<void> {
    const boss = this.#boss;
    this.#boss = undefined;
    const started = await boss?.catch(() => undefined);
    await started?.stop({ graceful: false, close: false });
  }

  async #createQueue(name: string): Promise<void> {
    const boss = await this.#start();
    const leaseMs = this.#settings?.leaseMs ?? 0;
    const heartbeatSeconds = Math.max(MIN_HEARTBEAT_SECONDS, Math.ceil(leaseMs / 1_000));
    await boss.createQueue(name, {
      heartbeatSeconds,
      retryLimit: MAX_DELIVERIES,
      retryDelay: 0,
      expireInSeconds: MAX_JOB_SECONDS,
      retentionSeconds: KEEP_WAITING_SECONDS,
      deleteAfterSeconds: KEEP_ENDED_SECONDS,
    });
    // pg-boss reads the queue now, and not on another connection while a transaction of ours is open.
    await boss.findJobs(name, { id: toJobId(name) });
  }
}

/** The number of jobs that a call has changed; the types of pg-boss leave it out, its pages name it. */
function countAffected(response: object): number {
  return (response as { readonly affected: number }).affected;
}

function toQueueOf({ queue, agent }: Delivery): string {
  return toJobQueue(queue, agent);
}

/** The attempt that a worker holds; pg-boss refuses calls for an earlier one. */
function toAttempt({ task, attempt }: Delivery): { id: string; retryCount: number } {
  return { id: toJobId(task), retryCount: attempt };
}
