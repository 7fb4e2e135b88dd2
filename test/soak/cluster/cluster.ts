import { setTimeout as sleep } from "node:timers/promises";
import { numbersFrom } from "../../server/gateway/random-agent.ts";
import type { PostgresServer } from "../../support/postgres/postgres-server.ts";
import type { Actor, Figures, Load } from "./actor.ts";

/** A run of a cluster. */
export interface ClusterRun {
  readonly server: Pick<PostgresServer, "restart">;
  readonly actors: readonly Actor[];
  readonly loads: readonly Load[];
  /** Duration; longer until each actor was killed `minKills` times, on a machine that starts processes slowly. */
  readonly runMs: number;
  readonly minKills?: number;
  readonly seed: number;
  readonly log?: (line: string) => void;
}

/** Events of a run, and the figures of its loads. */
export interface ClusterReport {
  readonly seconds: number;
  readonly kills: Figures;
  /** Kills while another process was down. */
  readonly overlappingKills: number;
  readonly restarts: number;
  /** Time from the restart of the database until each load had finished something. */
  readonly resumedMs: number;
  readonly done: Figures;
  readonly figures: Readonly<Record<string, Figures>>;
}

/** Time between two kills, and until a killed actor is started again. */
const KILL_EVERY_MS = 3_000;
const MAX_DOWN_MS = 1_500;
/** Actors that are down or starting at once: two gateways may be. */
const MAX_DOWN = 2;
/** After the last kill, each load must get something done within this time. */
const MAX_RESUME_MS = 60_000;

/**
 * Starts all actors, lets the loads work, kills and restarts actors at random and the database in the middle, waits for
 * the loads to end, and verifies them. Throws an error that names everything that did not hold.
 */
export async function runCluster(run: ClusterRun): Promise<ClusterReport> {
  const { actors, loads, runMs, minKills = 0, log = () => undefined } = run;
  const random = numbersFrom(run.seed);
  await Promise.all(actors.map((actor) => actor.start()));
  const stop = new AbortController();
  // Anything that fails ends the run at once.
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
  };
  const working = Promise.all(loads.map((load) => load.run(stop.signal)));
  working.catch(fail);
  const beganMs = performance.now();
  const endAt = beganMs + runMs;
  const kills = new Map(actors.map(({ name }) => [name, 0]));
  const down = new Map<Actor, Promise<void>>();
  const restartActor = async (actor: Actor) => {
    await actor.kill();
    kills.set(actor.name, (kills.get(actor.name) as number) + 1);
    log(`killed ${actor.name}${down.size > 1 ? `, while ${down.size - 1} other is down` : ""}`);
    await sleep(random(MAX_DOWN_MS));
    await actor.start();
  };
  /** Of actors that were killed less often than required, else of all. */
  const chooseActor = (): Actor | undefined => {
    const standing = actors.filter((actor) => !down.has(actor));
    const wanted = standing.filter(({ name }) => (kills.get(name) as number) < minKills);
    const choice = performance.now() < endAt ? standing : wanted;
    return choice[random(Math.max(1, choice.length))];
  };
  const isDue = () => performance.now() < endAt || [...kills.values()].some((count) => count < minKills);
  let restarts = 0;
  let resumedMs = 0;
  let overlappingKills = 0;
  try {
    while (isDue() && failure === undefined) {
      await sleep(random(2 * KILL_EVERY_MS));
      if (restarts === 0 && performance.now() > endAt - runMs / 2) {
        restarts++;
        log("restarting the database");
        const from = performance.now();
        await run.server.restart();
        await waitForWork(loads, () => failure);
        resumedMs = Math.round(performance.now() - from);
        log(`work goes on ${resumedMs} ms after the restart of the database began`);
      }
      const actor = down.size < MAX_DOWN ? chooseActor() : undefined;
      if (!actor) continue;
      if (down.size > 0) overlappingKills++;
      const restarting = restartActor(actor)
        .catch(fail)
        .finally(() => down.delete(actor));
      down.set(actor, restarting);
    }
    await Promise.all(down.values());
    if (failure === undefined) await waitForWork(loads, () => failure);
    if (failure !== undefined) throw failure;
    stop.abort();
    await working;
    return {
      seconds: Math.round((performance.now() - beganMs) / 1_000),
      kills: Object.fromEntries(kills),
      overlappingKills,
      restarts,
      resumedMs,
      done: Object.fromEntries(loads.map(({ name, done }) => [name, done()])),
      figures: await verifyAll(loads),
    };
  } catch (error) {
    for (const actor of actors)
      for (const line of actor.takeErrors().slice(-20)) log(`${actor.name}: ${line.slice(0, 500)}`);
    throw error;
  } finally {
    stop.abort();
    await Promise.all(down.values());
    await Promise.all(actors.map((actor) => actor.kill()));
    await working.catch(() => undefined);
  }
}

/** The figures of all loads; throws one error with a sentence for each load that does not hold. */
async function verifyAll(loads: readonly Load[]): Promise<ClusterReport["figures"]> {
  const figures: Record<string, Figures> = {};
  const problems: string[] = [];
  for (const load of loads)
    try {
      figures[load.name] = await load.verify();
    } catch (error) {
      problems.push(`${load.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  if (problems.length > 0) throw new Error(`The cluster did not hold. ${problems.join("\n")}`);
  return figures;
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
