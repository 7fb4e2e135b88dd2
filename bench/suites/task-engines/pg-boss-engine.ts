import { createHash } from "node:crypto";
import { PgBoss } from "pg-boss";
import type { Engine, EngineJob } from "./engine.ts";

const QUEUE = "bench";
/** The same as the lease that openworkflow has in its code. */
const HEARTBEAT_SECONDS = 30;

let started: Promise<PgBoss> | undefined;

function start(place: string, isWorker: boolean): Promise<PgBoss> {
  started ??= (async () => {
    const boss = new PgBoss({
      connectionString: place,
      schema: "bench_boss",
      schedule: false,
      supervise: isWorker,
      superviseIntervalSeconds: 5,
      monitorIntervalSeconds: 5,
    });
    boss.on("error", () => undefined);
    await boss.start();
    await boss.createQueue(QUEUE, { heartbeatSeconds: HEARTBEAT_SECONDS, retryLimit: 100, retryDelay: 0 });
    return boss;
  })();
  return started;
}

function toUuid(text: string): string {
  const digits = createHash("sha256").update(text).digest("hex");
  return digits.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** pg-boss with heartbeats. */
export const pgBossEngine: Engine = {
  name: "pg-boss",
  isOnServer: true,
  prepare: async (place) => void (await start(place, false)),
  async send(place, jobs) {
    const boss = await start(place, false);
    for (const job of jobs) await boss.send(QUEUE, job, { id: toUuid(job.id) });
  },
  async read(place, ids) {
    const boss = await start(place, false);
    const found = await Promise.all(
      ids.map(async (id) => {
        const [job] = await boss.findJobs(QUEUE, { id: toUuid(id) });
        const output = job?.output as { by?: string } | null | undefined;
        return [id, { isCompleted: job?.state === "completed", by: output?.by }] as const;
      }),
    );
    return new Map(found);
  },
  async work(place, run) {
    const boss = await start(place, true);
    await boss.work<EngineJob>(
      QUEUE,
      { pollingIntervalSeconds: 0.5, localConcurrency: 4 },
      async ([job]) => job && run(job.data, job.signal),
    );
  },
  close: async () => {
    await (await started)?.stop({ graceful: false });
    started = undefined;
  },
};
