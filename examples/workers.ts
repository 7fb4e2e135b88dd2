// Two workers share a queue. One of them is killed in the middle of a task, and the other one goes on from its last
// checkpoint. With LONGHAUL_STORE=postgres://… the workers may be on different machines.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, type Kernel, openKernel, type Session } from "longhaul";

const STEPS = 8;
const ROLE = "LONGHAUL_EXAMPLE_WORKER";

const counter: Agent<Session> = {
  name: "counter",
  canResume: true,
  async *run({ checkpoint, signal }) {
    for (let step = Number(checkpoint ?? 0) + 1; step <= STEPS; step++) {
      await sleep(150, undefined, { signal });
      yield { type: "output", text: `step ${step} in ${process.env[ROLE]}` };
      yield { type: "checkpoint", value: step };
    }
    return STEPS;
  },
};

if (process.env[ROLE]) await work();
else await show();

async function work(): Promise<void> {
  const kernel = await open();
  kernel.tasks.register(counter);
  await kernel.tasks.work({ queues: ["counting"] });
}

async function show(): Promise<void> {
  const { LONGHAUL_STORE: url, LONGHAUL_HOME: home } = process.env;
  const isTemporary = url === undefined && home === undefined;
  if (isTemporary) process.env.LONGHAUL_HOME = mkdtempSync(join(tmpdir(), "longhaul-example-"));
  const workers = ["the first worker", "the second worker"].map(startWorker);
  try {
    await using kernel = await open();
    const task = await kernel.tasks.start("counter", null, { queue: "counting", title: "count" });
    const places = new Set<string>();
    let steps = 0;
    for await (const entry of task.output({ block: true })) {
      if (entry.kind !== "task" || entry.note.type !== "output") continue;
      const [, place = ""] = entry.note.text.split(" in ");
      places.add(place);
      if (++steps === 3) workers[place === "the first worker" ? 0 : 1]?.kill("SIGKILL");
    }
    const { state, outcome } = await task.wait();
    console.log(
      `the task counted to ${outcome?.result} and is ${state}; ${places.size} workers had a part in it`,
    );
    for (let left = 50; (await kernel.tasks.describe(task.id)).notice === undefined && left > 0; left--)
      await sleep(100);
    const { notice, moves } = await kernel.tasks.describe(task.id);
    console.log(`its states: ${moves.map(({ to }) => to).join(", ")}`);
    console.log(`its one notice: ${notice?.id === `${task.id}/ended`}`);
  } finally {
    for (const worker of workers) worker.kill("SIGKILL");
    if (isTemporary)
      rmSync(process.env.LONGHAUL_HOME as string, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** A short lease, so that the example need not wait for half a minute. */
function open(): Promise<Kernel> {
  return openKernel({ embedder: null, tasks: { limits: { leaseMs: 2_000 } } });
}

function startWorker(name: string): ChildProcess {
  return spawn(process.execPath, [import.meta.filename], {
    env: { ...process.env, [ROLE]: name },
    stdio: "inherit",
  });
}
