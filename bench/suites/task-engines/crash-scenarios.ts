import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres/postgres-server.ts";
import type { ChildPlace } from "../../child-job.ts";
import type { Engine, EngineJob } from "./engine.ts";
import { findEngine } from "./engines.ts";
import { WorkerProcesses } from "./worker-processes.ts";

const STEP_MS = 200;
/** Longer than the time between two heartbeats of any engine. */
const HEARTBEAT_MS = 20_000;
/** Longer than any engine's lease. */
const TAKEOVER_MS = 150_000;

/** One scenario with one engine. */
export interface ScenarioInput {
  readonly engine: string;
  readonly scenario: "killed" | "frozen" | "restarted";
  readonly jobs: number;
}

/** The figures of a scenario. */
export interface ScenarioResult {
  /** From the fault until another worker has begun the job; null if none did, or if nobody had to. */
  readonly recoverySeconds: number | null;
  /** Jobs that were never completed. */
  readonly lost: number;
  /** Jobs that were run to their end more than once. */
  readonly repeated: number;
  /** Jobs whose completion by one worker was replaced by that of another. */
  readonly duplicates: number;
  /** Workers that were told that they had lost their job. */
  readonly told: number;
  /** Workers that ended by themselves. */
  readonly deadWorkers: number;
}

/** Runs one scenario on a server or file of its own. */
export async function runScenario(input: ScenarioInput, place: ChildPlace): Promise<ScenarioResult> {
  const engine = findEngine(input.engine);
  const server = engine.isOnServer ? await startPostgres({ fsync: true }) : undefined;
  const where = server?.url ?? join(place.folder, `${input.engine}-${input.scenario}.db`);
  const workers = new WorkerProcesses(engine.name, where);
  const quit = () => {
    workers.stop();
    if (server) process.kill(server.pid, "SIGQUIT");
  };
  process.once("exit", quit);
  try {
    await engine.prepare(where);
    return await SCENARIOS[input.scenario]({
      engine,
      where,
      workers,
      server,
      jobs: input.jobs,
      hold: join(place.folder, "hold"),
    });
  } finally {
    process.off("exit", quit);
    workers.stop();
    await engine.close().catch(() => undefined);
    await server?.stop();
  }
}

interface Scene {
  readonly engine: Engine;
  readonly where: string;
  readonly workers: WorkerProcesses;
  readonly server: PostgresServer | undefined;
  readonly jobs: number;
  /** A file that keeps jobs from ending before the fault. */
  readonly hold: string;
}

const SCENARIOS: Readonly<Record<ScenarioInput["scenario"], (scene: Scene) => Promise<ScenarioResult>>> = {
  killed: (scene) => loseWorker(scene, "SIGKILL"),
  frozen: (scene) => loseWorker(scene, "SIGSTOP"),
  restarted: restartDatabase,
};

/** One worker takes all jobs and is killed or frozen in the middle; a second one waits for them. */
async function loseWorker(scene: Scene, signal: "SIGKILL" | "SIGSTOP"): Promise<ScenarioResult> {
  const { engine, where, workers } = scene;
  const { hold } = scene;
  for (const name of ["first", "second"]) await writeFile(`${hold}-${name}`, "");
  const jobs = createJobs(Math.min(scene.jobs, 4), 10).map((job) => ({ ...job, hold }));
  const first = await workers.start("first");
  await engine.send(where, jobs);
  await workers.until(() => workers.lines("begin").length === jobs.length, 30_000);
  const second = await workers.start("second");
  await sleep(1_000);
  const faultAt = performance.now();
  first.process.kill(signal);
  await workers.until(() => second.lines.some(({ type }) => type === "begin"), TAKEOVER_MS);
  const begun = second.lines.find(({ type }) => type === "begin");
  await rm(`${hold}-second`);
  await untilCompleted(scene, jobs);
  const before = await engine.read(where, ids(jobs));
  if (signal === "SIGSTOP") {
    first.process.kill("SIGCONT");
    // It continues with its jobs until it is told, or for longer than a heartbeat takes.
    await workers.until(() => workers.lines("aborted").length === jobs.length, HEARTBEAT_MS);
    await rm(`${hold}-first`);
    // It ends its jobs long after the other worker did.
    await workers.until(
      () => first.lines.filter(({ type }) => type === "end").length === jobs.length,
      30_000,
    );
    await sleep(3_000);
  }
  const after = await engine.read(where, ids(jobs));
  return {
    recoverySeconds: begun ? (begun.at - faultAt) / 1_000 : null,
    lost: [...after.values()].filter(({ isCompleted }) => !isCompleted).length,
    repeated: countRepeated(workers),
    duplicates: [...after].filter(([id, { by }]) => before.get(id)?.by !== by).length,
    told: workers.lines("aborted").filter(({ worker }) => worker === "first").length,
    deadWorkers: Number(signal === "SIGSTOP" && first.isGone()) + Number(second.isGone()),
  };
}

/** Two workers run jobs while the database crashes and starts again. */
async function restartDatabase(scene: Scene): Promise<ScenarioResult> {
  const { engine, where, workers, server } = scene;
  const jobs = createJobs(scene.jobs, 10);
  const both = [await workers.start("first"), await workers.start("second")];
  await engine.send(where, jobs);
  await workers.until(() => workers.lines("end").length >= jobs.length / 4, 60_000);
  const faultAt = performance.now();
  await server?.restart();
  await workers.until(() => workers.lines("begin").some(({ at }) => at > faultAt + 500), TAKEOVER_MS);
  const begun = workers.lines("begin").find(({ at }) => at > faultAt + 500);
  await untilCompleted(scene, jobs);
  const after = await engine.read(where, ids(jobs)).catch(() => new Map());
  return {
    recoverySeconds: begun ? (begun.at - faultAt) / 1_000 : null,
    lost: jobs.length - [...after.values()].filter(({ isCompleted }) => isCompleted).length,
    repeated: countRepeated(workers),
    duplicates: 0,
    told: workers.lines("aborted").length,
    deadWorkers: both.filter(({ isGone }) => isGone()).length,
  };
}

function createJobs(count: number, steps: number): readonly EngineJob[] {
  return Array.from({ length: count }, (_, index) => ({ id: `job-${index}`, steps, stepMs: STEP_MS }));
}

const ids = (jobs: readonly EngineJob[]) => jobs.map(({ id }) => id);

async function untilCompleted({ engine, where, workers }: Scene, jobs: readonly EngineJob[]): Promise<void> {
  await workers.until(async () => {
    const states = await engine.read(where, ids(jobs)).catch(() => new Map());
    return states.size > 0 && [...states.values()].every(({ isCompleted }) => isCompleted);
  }, TAKEOVER_MS);
}

function countRepeated(workers: WorkerProcesses): number {
  const ends = Map.groupBy(workers.lines("end"), ({ job }) => job);
  return [...ends.values()].filter(({ length }) => length > 1).length;
}
