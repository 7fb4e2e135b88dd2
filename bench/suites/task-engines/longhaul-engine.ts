import { type Agent, type Kernel, openKernel, type Session } from "../../../src/kernel/index.ts";
import type { Engine, EngineJob, RunJob } from "./engine.ts";

let opened: Promise<Kernel> | undefined;

function open(place: string): Promise<Kernel> {
  opened ??= openKernel({
    store: `${place}?schema=bench_longhaul&max_connections=4`,
    embedder: null,
    monitor: false,
    tasks: { onWarning: () => undefined },
  });
  return opened;
}

function toAgent(run: RunJob): Agent<Session> {
  return {
    name: "bench",
    canResume: true,
    // biome-ignore lint/correctness/useYield: the job has no output but its result.
    async *run({ input, signal }) {
      return { ...(await run(input as unknown as EngineJob, signal)) };
    },
  };
}

/** Tasks of longhaul in a queue, delivered by pg-boss. */
export const longhaulEngine: Engine = {
  name: "longhaul",
  isOnServer: true,
  prepare: async (place) => void (await open(place)),
  async send(place, jobs) {
    const { tasks } = await open(place);
    for (const job of jobs) await tasks.start("bench", { ...job }, { id: job.id, queue: "bench" });
  },
  async read(place, ids) {
    const { tasks } = await open(place);
    const found = await Promise.all(
      ids.map(async (id) => {
        const { state, outcome } = await tasks.status(id);
        const result = outcome?.result as { by?: string } | undefined;
        return [id, { isCompleted: state === "completed", by: result?.by }] as const;
      }),
    );
    return new Map(found);
  },
  async work(place, run) {
    const { tasks } = await open(place);
    tasks.register(toAgent(run));
    await tasks.work({ queues: ["bench"], concurrency: 4 });
  },
  close: async () => {
    await (await opened)?.close();
    opened = undefined;
  },
};
