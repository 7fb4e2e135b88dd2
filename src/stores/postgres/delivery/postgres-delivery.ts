import { createHash } from "node:crypto";
import type { Db, PgBoss } from "pg-boss";
import type {
  Delivery,
  DeliveryLimits,
  DeliveryRequest,
  DeliverySettings,
  TaskDelivery,
  WaitingTask,
} from "../../../log/store/task-delivery.ts";
import { LonghaulError } from "../../../model/errors.ts";
import type { TaskId } from "../../../model/task.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";

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

const MAX_SECONDS = 5;

/** A warning if the clock of this machine is far from that of the database: leases of owners compare such clocks. */
async function compareClocks(db: PostgresDatabase): Promise<string | undefined> {
  const before = Date.now();
  const [row] = await db.query("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now");
  const now = row?.now as number;
  const seconds = Math.max(before - now, now - Date.now()) / 1_000;
  if (seconds <= MAX_SECONDS) return undefined;
  return `The clock of this machine is ${Math.round(seconds)} s away from that of the database; tasks may be taken from workers that live. Set it (NTP).`;
}

/** First half of the advisory lock's key; the second is made of the schema's name. */
const LOCK_CLASS = 0x4c4a;
/** How often silent workers are looked for. */
const WATCH_SECONDS = 5;

/** Loads the package pg-boss, which is optional. */
async function loadPgBoss(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (cause) {
    throw new LonghaulError(
      "PACKAGE_MISSING",
      "Queues of tasks over PostgreSQL need the package pg-boss. Install it (npm install pg-boss), or start the task without a queue.",
      { cause, details: { package: "pg-boss" } },
    );
  }
}

/** Starts pg-boss over the connections of a store; it creates or upgrades its schema. */
async function startBoss(
  db: PostgresDatabase,
  { isWatching, onWarning }: { isWatching: boolean; onWarning: (warning: string) => void },
): Promise<PgBoss> {
  const { PgBoss: Boss } = await loadPgBoss();
  const boss = new Boss({
    db: toBossDatabase(db),
    schema: toJobSchema(db.schema),
    schedule: false,
    supervise: isWatching,
    superviseIntervalSeconds: WATCH_SECONDS,
    monitorIntervalSeconds: WATCH_SECONDS,
    monitorVacuum: false,
  });
  boss.on("error", (error) => onWarning(`Delivering tasks failed: ${error.message}`));
  // One program at a time creates or upgrades the schema; the others find it.
  await db.transact(async (transaction) => {
    await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, db.schema]);
    await boss.start();
  });
  return boss;
}

/** Our connections, or a running transaction of ours, in the form that pg-boss asks for. */
function toBossDatabase(sql: PostgresDatabase | Transaction): Db {
  return { executeSql: (text, values) => sql.run(text, values) };
}

/** First half of the advisory lock's key; the second is made of the schema's name. */
const ROOM_LOCK_CLASS = 0x4c49;

/** A queue of jobs that has something for a worker. */
interface WaitingQueue {
  /** The queue of tasks. */
  readonly queue: string;
  /** The queue of jobs. */
  readonly name: string;
}

/** The queues that have tasks for a worker; most looks end here, without a lock. */
async function findWaitingQueues(
  db: PostgresDatabase,
  jobs: string,
  { queues, agents }: DeliveryRequest,
): Promise<readonly WaitingQueue[]> {
  const names = new Map(
    queues.flatMap((queue) => agents.map((agent) => [toJobQueue(queue, agent), queue] as const)),
  );
  const { rows } = await db.run(
    `SELECT n.name FROM unnest($1::text[]) AS n (name) WHERE EXISTS (
       SELECT 1 FROM "${jobs}".job j WHERE j.name = n.name AND j.state < 'active' AND j.start_after <= now())`,
    [[...names.keys()]],
  );
  return rows.map(({ name }) => ({ name: name as string, queue: names.get(name as string) as string }));
}

/**
 * The queues and people that have as much as they may. One worker at a time asks and takes: a limit would not hold if
 * two saw the same gap. Tasks count from their delivery to their end, also those whose job has ended before.
 */
async function findFull(
  transaction: Transaction,
  { schema, jobs }: { readonly schema: string; readonly jobs: string },
  { maxPerQueue, maxPerPerson }: DeliveryLimits,
): Promise<{ readonly queues: ReadonlySet<string>; readonly people: string[] }> {
  if (maxPerQueue === undefined && maxPerPerson === undefined) return { queues: new Set(), people: [] };
  await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [ROOM_LOCK_CLASS, schema]);
  const rows = await transaction.query(
    `SELECT queue, person, count(*)::int AS count FROM (
       SELECT queue, person, id FROM @tasks WHERE queue IS NOT NULL AND state IN ('running', 'detaching')
       UNION SELECT data->>'queue', data->>'person', data->>'task' FROM "${jobs}".job WHERE state = 'active'
     ) AS busy GROUP BY queue, person`,
  );
  const queues = new Map<string, number>();
  const people = new Map<string, number>();
  for (const { queue, person, count } of rows) {
    queues.set(queue as string, (queues.get(queue as string) ?? 0) + (count as number));
    people.set(person as string, (people.get(person as string) ?? 0) + (count as number));
  }
  return { queues: new Set(namesAt(queues, maxPerQueue)), people: namesAt(people, maxPerPerson) };
}

function namesAt(counts: ReadonlyMap<string, number>, limit: number | undefined): string[] {
  return [...counts].flatMap(([name, count]) => (limit !== undefined && count >= limit ? [name] : []));
}

/** Maximum bytes of a schema's name in pg-boss. */
const MAX_SCHEMA_BYTES = 50;

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The schema of the jobs that deliver the tasks of a store; it is separate from the store's schema. */
function toJobSchema(schema: string): string {
  const name = `${schema}_jobs`;
  return name.length <= MAX_SCHEMA_BYTES ? name : `${schema.slice(0, 36)}_${hash(schema).slice(0, 8)}_jobs`;
}

/** The queue of jobs for one agent in one queue of tasks, so that a worker fetches nothing that it cannot run. */
function toJobQueue(queue: string, agent: string): string {
  return `${toPlainName(queue)}/${toPlainName(agent)}`;
}

/** The id of the one job that delivers a task. */
function toJobId(task: TaskId): string {
  const digits = hash(task);
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join("-");
}

function toPlainName(name: string): string {
  return /^[\w.-]{1,60}$/.test(name) ? name : `hash-${hash(name).slice(0, 24)}`;
}
