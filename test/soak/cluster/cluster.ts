import { setTimeout as sleep } from "node:timers/promises";
import { numbersFrom } from "../../gateway/random-agent.ts";
import type { PostgresServer } from "../../support/postgres/postgres-server.ts";
import type { Actor, Load } from "./actor.ts";

/** A run of a cluster. */
export interface ClusterRun {
  readonly server: Pick<PostgresServer, "restart">;
  readonly actors: readonly Actor[];
  readonly loads: readonly Load[];
  /** Duration; longer if there were fewer kills than `minKills`, on a machine that starts processes slowly. */
  readonly runMs: number;
  readonly minKills?: number;
  readonly seed: number;
  readonly log?: (line: string) => void;
}

/** Events of a run. */
export interface ClusterReport {
  readonly kills: number;
  readonly restarts: number;
  readonly done: Readonly<Record<string, number>>;
}

/** Time between two kills, and until a killed actor is started again. */
const KILL_EVERY_MS = 3_000;
const MAX_DOWN_MS = 1_500;
/** After the last kill, each load must get something done within this time. */
const MAX_RESUME_MS = 60_000;

/**
 * Starts all actors, lets the loads work, kills and restarts actors at random and the database in the middle, waits for
 * the loads to end, and verifies them.
 */
export async function runCluster(run: ClusterRun): Promise<ClusterReport> {
  const { actors, loads, runMs, log = () => undefined } = run;
  const random = numbersFrom(run.seed);
  await Promise.all(actors.map((actor) => actor.start()));
  const stop = new AbortController();
  const working = Promise.all(loads.map((load) => load.run(stop.signal)));
  // A load that fails ends the run at once.
  let failure: unknown;
  working.catch((error) => {
    failure = error;
  });
  const endAt = performance.now() + runMs;
  let restarts = 0;
  let kills = 0;
  try {
    while ((performance.now() < endAt || kills < (run.minKills ?? 0)) && failure === undefined) {
      await sleep(random(2 * KILL_EVERY_MS));
      if (restarts === 0 && performance.now() > endAt - runMs / 2) {
        restarts++;
        log("restarting the database");
        await run.server.restart();
        await waitForWork(loads, () => failure);
        log("work goes on after the restart of the database");
      }
      const actor = actors[random(actors.length)] as Actor;
      await actor.kill();
      kills++;
      log(`killed ${actor.name}`);
      await sleep(random(MAX_DOWN_MS));
      await actor.start();
    }
    if (failure !== undefined) throw failure;
    await waitForWork(loads, () => failure);
    stop.abort();
    await working;
    for (const load of loads) await load.verify();
  } finally {
    stop.abort();
    await Promise.all(actors.map((actor) => actor.kill()));
    await working.catch(() => undefined);
  }
  return { kills, restarts, done: Object.fromEntries(loads.map(({ name, done }) => [name, done()])) };
}

/** Waits until each load has finished something since now. */
async function waitForWork(loads: readonly Load[], failure: () => unknown): Promise<void> {
  const before = loads.map(({ done }) => done());
  const until = performance.now() + MAX_RESUME_MS;
  const isMoving = () => loads.every(({ done }, at) => done() > (before[at] as number));
  while (!isMoving()) {
    if (failure() !== undefined) throw failure();
    if (performance.now() > until) {
      const still = loads.filter(({ done }, at) => done() === before[at]).map(({ name }) => name);
      throw new Error(`No work was done within ${MAX_RESUME_MS / 1_000} s by: ${still.join(", ")}`);
    }
    await sleep(100);
  }
}
