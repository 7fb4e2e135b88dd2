import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { megabytes, settledMemory } from "../../measure/memory.ts";
import { atMost, type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type BenchHost, busy, openHost } from "./host.ts";

interface Load {
  readonly tasks: number;
  readonly parallel: number;
}

interface Overhead {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly heapBytes: number;
  readonly handles: number;
  readonly unclosed: number;
}

const WARM_UP = 1_000;

/** Runs many tasks, `parallel` at a time; returns the cost per task and the leftover resources. */
export async function runTasks({ tasks, parallel }: Load, place: ChildPlace): Promise<Overhead> {
  const host = await openHost(place.folder);
  await runAll(host, Math.max(WARM_UP, parallel), parallel);
  const before = await settledMemory();
  const handlesBefore = process.getActiveResourcesInfo().length;
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await runAll(host, tasks, parallel);
  const { user, system } = process.cpuUsage(cpuBefore);
  const wallMs = performance.now() - startedMs;
  const after = await settledMemory();
  const handles = process.getActiveResourcesInfo().length - handlesBefore;
  const { shell } = host.census.counts();
  await host.close();
  return {
    cpuMs: (user + system) / 1_000,
    wallMs,
    heapBytes: after.heapBytes - before.heapBytes,
    handles,
    unclosed: (shell?.opened ?? 0) - (shell?.closed ?? 0),
  };
}

/** Resolves when all tasks have ended and their notices are sent. */
async function runAll({ tasks }: BenchHost, count: number, parallel: number): Promise<void> {
  let notices = 0;
  const told = Promise.withResolvers<void>();
  const stop = tasks.onNotice(() => {
    if (++notices === count) told.resolve();
  });
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const task = await tasks.start(busy, next++);
      await task.wait();
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  await told.promise;
  stop();
}

function* rowsOf(id: string, { tasks }: Load, found: Overhead): Generator<Row> {
  yield toRow({ id: `${id}.cpu`, value: found.cpuMs / tasks, unit: "ms a task", goal: atMost(1, "ms") });
  yield toRow({ id: `${id}.wall`, value: found.wallMs / tasks, unit: "ms a task" });
  yield toRow({
    id: `${id}.heap`,
    value: megabytes(found.heapBytes),
    unit: "MB kept",
    goal: atMost(1, "MB"),
  });
  yield toRow({ id: `${id}.handles`, value: found.handles, unit: "left", goal: atMost(0, "") });
  yield toRow({ id: `${id}.unclosed`, value: found.unclosed, unit: "shells", goal: atMost(0, "") });
}

/** Cost of a task without its agent's own work: start, a few events, end, notice. */
export const overhead: Measurement = {
  name: "overhead",
  async *run(bench: Bench) {
    const tasks = bench.isQuick ? 2_000 : 10_000;
    for (const parallel of [1, 1_000]) {
      const load = { tasks, parallel };
      const found = await bench.child(`${parallel} at a time`, import.meta.url, runTasks, load);
      yield* rowsOf(`tasks.${parallel}`, load, found);
    }
  },
};
