import { OpenWorkflow } from "openworkflow";
import type { Engine, EngineJob, RunJob } from "./engine.ts";

type Backend = ConstructorParameters<typeof OpenWorkflow>[0]["backend"];

/** openworkflow on PostgreSQL or on a file; its lease is 30 s, renewed every 15 s, and cannot be set. */
function createEngine(
  name: string,
  isOnServer: boolean,
  connect: (place: string) => Promise<Backend>,
): Engine {
  let opened: Promise<{ backend: Backend; client: OpenWorkflow }> | undefined;
  let runs = new Map<string, string>();
  let runJob: RunJob | undefined;
  const open = (place: string) => {
    opened ??= connect(place).then((backend) => ({ backend, client: new OpenWorkflow({ backend }) }));
    return opened;
  };
  const spec = { name: "bench" } as const;
  return {
    name,
    isOnServer,
    prepare: async (place) => void (await open(place)),
    async send(place, jobs) {
      const { client } = await open(place);
      for (const job of jobs) {
        const handle = await client.runWorkflow(spec, job);
        runs.set(job.id, (handle as unknown as { workflowRun: { id: string } }).workflowRun.id);
      }
    },
    async read(place, ids) {
      const { backend } = await open(place);
      const found = await Promise.all(
        ids.map(async (id) => {
          const run = await backend.getWorkflowRun({ workflowRunId: runs.get(id) ?? "" });
          const isCompleted = run?.status === "completed" || run?.status === "succeeded";
          return [id, { isCompleted, by: (run?.output as { by?: string } | null)?.by }] as const;
        }),
      );
      return new Map(found);
    },
    async work(place, run) {
      runJob = run;
      const { client } = await open(place);
      client.implementWorkflow(spec, async ({ input }) => runJob?.(input as unknown as EngineJob));
      await client.newWorker({ concurrency: 4 }).start();
    },
    close: async () => {
      await (await opened)?.backend.stop();
      opened = undefined;
      runs = new Map();
    },
  };
}

export const openworkflowEngine = createEngine("openworkflow", true, async (place) => {
  const { BackendPostgres } = await import("openworkflow/postgres");
  return BackendPostgres.connect(place, { schema: "bench_openworkflow" });
});

export const openworkflowSqliteEngine = createEngine("openworkflow-sqlite", false, async (place) => {
  const { BackendSqlite } = await import("openworkflow/sqlite");
  return BackendSqlite.connect(place);
});
