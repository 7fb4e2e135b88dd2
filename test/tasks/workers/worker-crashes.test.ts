import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { eventually } from "../../support/eventually.ts";
import { testFolder } from "../../support/folder.ts";
import { startOutageProxy } from "../../support/postgres/outage-proxy.ts";
import { startPoolingProxy } from "../../support/postgres/pooling-proxy.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTest } from "../../support/proof.ts";
import { makeHost } from "../host.ts";
import { checkEnded, findMaxRunning } from "./check-tasks.ts";
import { brittle, stepper } from "./worker-agents.ts";
import { startWorker } from "./worker-processes.ts";

const server = await findTestPostgres();
const LIMIT_MS = 120_000;

/** A file that keeps tasks from ending until it is removed. */
async function createHold(): Promise<{ hold: string; release: () => Promise<void> }> {
  const hold = join(testFolder(), "hold");
  await writeFile(hold, "");
  return { hold, release: () => rm(hold) };
}

/** A program that starts tasks, with the store that its checks read. */
async function openStarter(url: string) {
  const store = await openPostgresStore({ url });
  const { tasks, owner } = makeHost(store, { limits: { leaseMs: 10_000 } });
  onTestFinished(async () => {
    await tasks.close();
    await store.close();
  });
  return { store, tasks, owner };
}

describe.skipIf("problem" in server)(`crashes of workers (${describeProblem(server)})`, () => {
  proofTest(
    "the tasks of a killed worker continue elsewhere, and its programs are reported as lost",
    async () => {
      const url = createSchemaUrl(server);
      const { store, tasks } = await openStarter(url);
      const { hold, release } = await createHold();
      const first = await startWorker({ store: url, queues: ["q"] });
      await tasks.start("stepper", { steps: 5, pauseMs: 100, hold }, { id: "steps", queue: "q" });
      await tasks.start("brittle", { steps: 5, pauseMs: 100, hold }, { id: "brittle", queue: "q" });
      await Promise.all([first.printed("taken steps"), first.printed("taken brittle")]);
      const second = await startWorker({ store: url, queues: ["q"] });
      first.signal("SIGKILL");
      await second.printed("taken steps");
      await release();
      expect(await tasks.wait("steps")).toMatchObject({ state: "completed" });
      expect(await tasks.wait("brittle")).toMatchObject({ state: "failed", outcome: { reason: "lost" } });
      await expect.poll(async () => (await store.tasks.get("brittle"))?.notice).toBe("done");
      await second.printed("ended steps");
      await checkEnded(store, ["steps", "brittle"], 5);
    },
    LIMIT_MS,
  );

  proofTest(
    "a frozen worker loses its task, and cannot end or write it after waking up",
    async () => {
      const url = createSchemaUrl(server);
      const { store, tasks } = await openStarter(url);
      const { hold, release } = await createHold();
      const first = await startWorker({ store: url, queues: ["q"] });
      await tasks.start("stepper", { steps: 5, pauseMs: 100, hold }, { id: "t", queue: "q" });
      await first.printed("taken t");
      const second = await startWorker({ store: url, queues: ["q"] });
      first.signal("SIGSTOP");
      await second.printed("taken t");
      await release();
      // It continues while the other one works.
      first.signal("SIGCONT");
      await first.printed("left t");
      expect(await tasks.wait("t")).toMatchObject({ state: "completed" });
      await second.printed("ended t");
      await checkEnded(store, ["t"], 5);
      expect(first.lines).not.toContain("ended t");
      // The first one takes tasks again.
      second.signal("SIGTERM");
      expect(await second.ended()).toBe(0);
      await tasks.start("stepper", { steps: 1, pauseMs: 10 }, { id: "next", queue: "q" });
      await first.printed("ended next");
    },
    LIMIT_MS,
  );

  proofTest(
    "living workers keep their tasks after an outage of the database longer than a lease",
    async () => {
      const url = createSchemaUrl(server);
      const proxy = await startOutageProxy(url);
      const { hold, release } = await createHold();
      // Two supervisors that know of each other only by their leases, as on two machines.
      const [first, second] = [await openStarter(proxy.url), await openStarter(proxy.url)];
      for (const { tasks } of [first, second]) for (const agent of [stepper, brittle]) tasks.register(agent);
      await first.tasks.work({ queues: ["q"] });
      await first.tasks.start("brittle", { steps: 3, pauseMs: 100, hold }, { id: "t", queue: "q" });
      await expect.poll(async () => (await first.tasks.status("t")).state).toBe("running");
      const { epoch } = await first.tasks.status("t");
      await second.tasks.work({ queues: ["q"] });
      const { store: direct } = await openStarter(url);
      const isHeld = async ({ owner }: { readonly owner: string }) =>
        ((await direct.leases.get(`tasks ${owner}`))?.expiresAt ?? 0) > Date.now();
      const areHeld = () => Promise.all([first, second].map(isHeld));
      proxy.begin();
      await eventually("the leases of both have expired", async () => !(await areHeld()).includes(true));
      proxy.end();
      await eventually("both hold their leases again", async () => !(await areHeld()).includes(false));
      for (const { tasks } of [first, second]) for (let sweep = 0; sweep < 3; sweep++) await tasks.recover();
      expect(await second.tasks.status("t")).toMatchObject({ state: "running", epoch });
      await release();
      expect(await second.tasks.wait("t")).toMatchObject({ state: "completed", resumes: 0 });
      await first.tasks.cleaned();
      await checkEnded(second.store, ["t"], 3);
    },
    LIMIT_MS,
  );

  proofTest(
    "tasks are delivered and followed behind a pooler in transaction mode",
    async () => {
      const url = createSchemaUrl(server);
      const proxy = await startPoolingProxy(url);
      const { store, tasks } = await openStarter(proxy.url);
      const worker = await startWorker({ store: proxy.url, queues: ["q"], maxPerPerson: 1 });
      const ids = ["one", "two", "three"];
      for (const id of ids) await tasks.start("stepper", { steps: 2, pauseMs: 20 }, { id, queue: "q" });
      for (const id of ids) await worker.printed(`ended ${id}`);
      await checkEnded(store, ids, 2);
      expect(worker.lines.filter((line) => line.startsWith("warning"))).toEqual([]);
    },
    LIMIT_MS,
  );

  proofTest(
    "a kill reaches a worker of another process within seconds",
    async () => {
      const url = createSchemaUrl(server);
      const { store, tasks } = await openStarter(url);
      const worker = await startWorker({ store: url, queues: ["q"] });
      await tasks.start("waiter", null, { id: "t", queue: "q" });
      await worker.printed("taken t");
      expect(await tasks.kill("t", "enough")).toMatchObject({
        state: "killed",
        outcome: { reason: "enough" },
      });
      await worker.printed("aborted t");
      await worker.printed("ended t");
      await checkEnded(store, ["t"], 0);
    },
    LIMIT_MS,
  );

  proofTest(
    "a worker that is asked to stop returns its task, which continues elsewhere at once",
    async () => {
      const url = createSchemaUrl(server);
      const { store, tasks } = await openStarter(url);
      const { hold, release } = await createHold();
      const first = await startWorker({ store: url, queues: ["q"] });
      await tasks.start("stepper", { steps: 5, pauseMs: 100, hold }, { id: "t", queue: "q" });
      await first.printed("taken t");
      const second = await startWorker({ store: url, queues: ["q"] });
      first.signal("SIGTERM");
      expect(await first.ended()).toBe(0);
      await second.printed("taken t");
      await release();
      expect(await tasks.wait("t")).toMatchObject({ state: "completed", resumes: 0 });
      await second.printed("ended t");
      await checkEnded(store, ["t"], 5);
    },
    LIMIT_MS,
  );

  proofTest(
    "four workers respect the limit of each person while some are killed, and no task is lost",
    async () => {
      const url = createSchemaUrl(server);
      const { store, tasks } = await openStarter(url);
      const options = { store: url, queues: ["q"], concurrency: 4, maxPerPerson: 2 };
      const workers = await Promise.all([0, 1, 2, 3].map(() => startWorker(options)));
      const ids = Array.from({ length: 36 }, (_, number) => `t${number}`);
      for (const [number, id] of ids.entries())
        await tasks.start(
          "stepper",
          { steps: 5, pauseMs: 100 },
          { id, queue: "q", person: `p${number % 3}` },
        );
      await Promise.race(workers.map((worker) => worker.printed("ended t0")));
      for (const worker of workers.slice(0, 2)) {
        worker.signal("SIGKILL");
        workers.push(await startWorker(options));
      }
      for (const id of ids) expect((await tasks.wait(id, { timeoutMs: 120_000 })).state).toBe("completed");
      await expect
        .poll(async () => (await store.tasks.list({ limit: 100 })).every(({ notice }) => notice === "done"))
        .toBe(true);
      const found = await checkEnded(store, ids, 5);
      for (const [person, most] of await findMaxRunning(store, found.values()))
        expect(most, `tasks of ${person} at once`).toBeLessThanOrEqual(2);
    },
    LIMIT_MS,
  );

  proofTest(
    "every task ends once even if the database crashes",
    async () => {
      const own = await startPostgres();
      onTestFinished(() => own.stop());
      const url = `${own.url}?schema=workers`;
      const { store, tasks } = await openStarter(url);
      const workers = await Promise.all([0, 1].map(() => startWorker({ store: url, queues: ["q"] })));
      const ids = Array.from({ length: 16 }, (_, number) => `t${number}`);
      for (const id of ids) await tasks.start("stepper", { steps: 6, pauseMs: 150 }, { id, queue: "q" });
      await Promise.race(workers.map((worker) => worker.printed("ended t0")));
      await own.restart();
      for (const id of ids) expect((await tasks.wait(id, { timeoutMs: 120_000 })).state).toBe("completed");
      await expect
        .poll(async () => (await store.tasks.list({ limit: 100 })).every(({ notice }) => notice === "done"))
        .toBe(true);
      await checkEnded(store, ids, 6);
    },
    LIMIT_MS,
  );
});
