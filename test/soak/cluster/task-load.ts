import { setTimeout as sleep } from "node:timers/promises";
import { claimOwner, releaseOwner } from "../../../src/model/base/owner.ts";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { makeHost } from "../../tasks/host.ts";
import { checkEnded, findMaxRunning } from "../../tasks/workers/check-tasks.ts";
import { type Actor, createProcessActor, type Figures, type Load } from "./actor.ts";

/** Settings of the workers of a cluster. */
interface WorkerClusterOptions {
  readonly workers?: number;
  /** Tasks that wait or run at once. */
  readonly atOnce?: number;
}

const WORKER = new URL("../../tasks/workers/worker-process.ts", import.meta.url);
const STEPS = 4;
const PEOPLE = 3;
const MAX_PER_PERSON = 4;
const LEASE_MS = 10_000;
const NOTICES_MS = 120_000;

/** Workers of a cluster and the tasks that they run: each must end exactly once, with exactly one notice. */
export async function createWorkerCluster(
  store: string,
  { workers = 4, atOnce = 12 }: WorkerClusterOptions = {},
): Promise<{ readonly actors: readonly Actor[]; readonly loads: readonly Load[] }> {
  const argument = {
    store,
    queues: ["soak"],
    concurrency: 4,
    maxPerPerson: MAX_PER_PERSON,
    leaseMs: LEASE_MS,
  };
  const actors = Array.from({ length: workers }, (_, number) =>
    createProcessActor(`worker ${number + 1}`, WORKER, argument),
  );
  return { actors, loads: [createTaskLoad(store, atOnce)] };
}

function createTaskLoad(url: string, atOnce: number): Load {
  const started: string[] = [];
  let done = 0;
  return {
    name: "tasks",
    done: () => done,
    async run(signal) {
      await withHost(url, async ({ tasks }) => {
        const start = async (lane: number) => {
          for (let number = 0; !signal.aborted; number++) {
            const id = `task-${lane}-${number}`;
            const agent = number % 4 === 3 ? "brittle" : "stepper";
            const input = { steps: STEPS, pauseMs: 50 + 50 * (number % 5) };
            await tasks.start(agent, input, { id, queue: "soak", person: `person-${lane % PEOPLE}` });
            started.push(id);
            await tasks.wait(id);
            done++;
          }
        };
        await Promise.all(Array.from({ length: atOnce }, (_, lane) => start(lane)));
      });
    },
    async verify() {
      let figures: Figures = {};
      await withHost(url, async ({ store }) => {
        const until = performance.now() + NOTICES_MS;
        for (const id of started)
          while ((await store.tasks.get(id))?.notice !== "done" && performance.now() < until)
            await sleep(100);
        const found = await checkEnded(store, started, STEPS);
        for (const task of found.values())
          if (task.state !== "completed" && (task.agent !== "brittle" || task.state !== "failed"))
            throw new Error(`${task.id} of the agent ${task.agent} ended as ${task.state}`);
        for (const [person, most] of await findMaxRunning(store, found.values()))
          if (most > MAX_PER_PERSON) throw new Error(`${person} had ${most} tasks at once`);
        const tasks = [...found.values()];
        const firstEpoch = Math.min(...tasks.map(({ epoch }) => epoch));
        figures = {
          tasks: tasks.length,
          completed: tasks.filter(({ state }) => state === "completed").length,
          failed: tasks.filter(({ state }) => state === "failed").length,
          takenOver: tasks.filter(({ epoch }) => epoch > firstEpoch).length,
        };
      });
      return figures;
    },
  };
}

/** A program that starts tasks and has no agents of its own. */
async function withHost(
  url: string,
  work: (host: {
    store: Awaited<ReturnType<typeof openPostgresStore>>;
    tasks: ReturnType<typeof makeHost>["tasks"];
  }) => Promise<void>,
): Promise<void> {
  const store = await openPostgresStore({ url, busyTimeoutMs: 60_000 });
  const owner = claimOwner();
  const { tasks } = makeHost(store, { owner, limits: { leaseMs: LEASE_MS } });
  try {
    await work({ store, tasks });
  } finally {
    await tasks.close();
    releaseOwner(owner);
    await store.close();
  }
}
