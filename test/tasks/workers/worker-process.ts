// A worker in its own process, which tests kill and freeze; SIGTERM lets it hand back its tasks.
import { writeSync } from "node:fs";
import { openKernel } from "../../../src/kernel/index.ts";
import type { WorkOptions } from "../../../src/tasks/work-options.ts";
import { brittle, stepper, waiter } from "./worker-agents.ts";

/** Arguments of a worker process, as JSON. */
export interface WorkerArguments
  extends Pick<WorkOptions, "queues" | "concurrency" | "maxPerPerson" | "maxPerQueue"> {
  readonly store: string;
  readonly leaseMs?: number;
}

const { store, leaseMs = 10_000, ...options } = JSON.parse(process.argv[2] ?? "{}") as WorkerArguments;
const say = (text: string) => void writeSync(1, `${text}\n`);
const kernel = await openWhenReady();
for (const agent of [stepper, brittle, waiter]) kernel.tasks.register(agent);
const worker = await kernel.tasks.work({ ...options, onTask: ({ type, task }) => say(`${type} ${task}`) });
process.once("SIGTERM", async () => {
  await worker.close();
  await kernel.close();
  say("closed");
  process.exit(0);
});
say("ready");
// A worker must not outlive a killed parent.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 500).unref();

/** The database may be restarting at this moment. */
async function openWhenReady(): ReturnType<typeof openKernel> {
  for (let tries = 1; ; tries++) {
    try {
      const onWarning = (warning: string) => say(`warning ${warning}`);
      const tasks = { limits: { leaseMs }, handlesSignals: false, onWarning };
      return await openKernel({ store, embedder: null, monitor: false, tasks });
    } catch (error) {
      if (tries === 10) throw error;
    }
  }
}
