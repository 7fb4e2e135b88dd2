import type { DeliveryLimits, DeliveryRequest } from "../../task-delivery.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import { toJobQueue } from "./job-names.ts";

/** First half of the advisory lock's key; the second is made of the schema's name. */
const LOCK_CLASS = 0x4c49;

/** A queue of jobs that has something for a worker. */
interface WaitingQueue {
  /** The queue of tasks. */
  readonly queue: string;
  /** The queue of jobs. */
  readonly name: string;
}

/** The queues that have tasks for a worker; most looks end here, without a lock. */
export async function findWaitingQueues(
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
export async function findFull(
  transaction: Transaction,
  { schema, jobs }: { readonly schema: string; readonly jobs: string },
  { maxPerQueue, maxPerPerson }: DeliveryLimits,
): Promise<{ readonly queues: ReadonlySet<string>; readonly people: string[] }> {
  if (maxPerQueue === undefined && maxPerPerson === undefined) return { queues: new Set(), people: [] };
  await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, schema]);
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
