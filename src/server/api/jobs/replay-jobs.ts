import { randomUUID } from "node:crypto";
import { BoundedMap } from "../../../model/base/caches.ts";
import { toErrorReply } from "../core/error-reply.ts";
import type { ReplayRequest, ReplayResult, ReplayRunner } from "./replay-runner.ts";

/** A replay that outlives its request. */
export interface ReplayJob {
  readonly id: string;
  /** The person who may see it. */
  readonly owner: string;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly result?: ReplayResult;
  readonly error?: { readonly code: string; readonly message: string; readonly remedy: string };
}

/** Jobs that are kept, with their results, until newer ones replace them. */
const MAX_JOBS = 20;

/** Replays as jobs. */
export class ReplayJobs {
  readonly #runner: ReplayRunner;
  readonly #jobs = new BoundedMap<string, ReplayJob>({ max: MAX_JOBS });
  readonly #listeners = new Set<(job: ReplayJob) => void>();
  readonly #running = new Map<string, { readonly stop: AbortController; readonly end: Promise<void> }>();

  readonly #prefix: string;

  /** Ids of jobs begin with `prefix`. */
  constructor(runner: ReplayRunner, prefix = "replay") {
    this.#runner = runner;
    this.#prefix = prefix;
  }

  /** Starts a replay; throws if it is not possible. */
  async start(owner: string, request: ReplayRequest): Promise<ReplayJob> {
    await this.#runner.check(request);
    const job: ReplayJob = {
      id: `${this.#prefix}-${randomUUID()}`,
      owner,
      state: "running",
      startedAt: Date.now(),
    };
    const stop = new AbortController();
    this.#set(job);
    const end = this.#runner.run(request, stop.signal).then(
      (result) => this.#set({ ...job, state: "done", endedAt: Date.now(), result }),
      (error: unknown) => {
        const { code, message, remedy } = toErrorReply(error).json.error;
        const state = stop.signal.aborted ? "stopped" : "failed";
        this.#set({
          ...job,
          state,
          endedAt: Date.now(),
          ...(state === "failed" && { error: { code, message, remedy } }),
        });
      },
    );
    this.#running.set(job.id, { stop, end: end.finally(() => this.#running.delete(job.id)) });
    return job;
  }

  /** A person's job; undefined if there is none. */
  find(owner: string, id: string): ReplayJob | undefined {
    const job = this.#jobs.get(id);
    return job?.owner === owner ? job : undefined;
  }

  /** A person's jobs, newest first. */
  list(owner: string): readonly ReplayJob[] {
    return [...this.#jobs.values()].filter((job) => job.owner === owner).reverse();
  }

  /** Stops a job; one that has ended stays as it is. */
  async stop(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.stop.abort();
    await running?.end;
  }

  /** Calls `listener` after each change of a job; returns a function that removes it. */
  onChange(listener: (job: ReplayJob) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id)));
  }

  #set(job: ReplayJob): void {
    this.#jobs.set(job.id, job);
    for (const listener of this.#listeners) listener(job);
  }
}
