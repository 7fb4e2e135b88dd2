import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A job as all engines run it: at least a number of steps with a pause after each. */
export interface EngineJob {
  readonly id: string;
  readonly steps: number;
  readonly stepMs: number;
  /** A file that keeps the job from ending; each worker has its own, with its name at the end. */
  readonly hold?: string;
}

/** The state of a job as its engine stores it. */
export interface JobState {
  readonly isCompleted: boolean;
  /** The worker whose completion the engine has accepted. */
  readonly by: string | undefined;
}

/** A line of a worker about its jobs, as JSON. */
export type WorkerLine =
  | { readonly type: "ready" }
  | { readonly type: "begin" | "end" | "aborted"; readonly job: string };

/** A running worker of an engine. */
export type RunJob = (job: EngineJob, signal?: AbortSignal) => Promise<{ readonly by: string }>;

/** An engine of jobs under test, as a client that sends and looks, or as a worker. */
export interface Engine {
  readonly name: string;
  /** Whether its jobs are in the PostgreSQL server; otherwise in a file. */
  readonly isOnServer: boolean;
  /** Prepares the storage; called once. */
  prepare(place: string): Promise<void>;
  send(place: string, jobs: readonly EngineJob[]): Promise<void>;
  read(place: string, ids: readonly string[]): Promise<ReadonlyMap<string, JobState>>;
  /** Takes jobs until the process ends. */
  work(place: string, run: RunJob): Promise<void>;
  close(): Promise<void>;
}

/** Runs the steps of a job; the same work for all engines. */
export async function runSteps(job: EngineJob, worker: string): Promise<void> {
  const isHeld = () => job.hold !== undefined && existsSync(`${job.hold}-${worker}`);
  for (let step = 0; step < job.steps || isHeld(); step++) await sleep(job.stepMs);
}
