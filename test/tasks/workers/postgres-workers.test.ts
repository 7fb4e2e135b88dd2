import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/log/store/store.ts";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { type Host, makeHost } from "../host.ts";
import { checkEnded, findMaxRunning } from "./check-tasks.ts";
import { brittle, stepper, waiter } from "./worker-agents.ts";

const server = await findTestPostgres();

/** Two stores on one schema, as on two machines: one starts tasks, the other has workers. */
async function openTwo(): Promise<{ url: string; store: Store; starter: Host; worker: Host }> {
  const url = createSchemaUrl(server);
  const [store, other] = [await openPostgresStore({ url }), await openPostgresStore({ url })];
  const [starter, worker] = [makeHost(store), makeHost(other)];
  for (const agent of [stepper, brittle, waiter]) worker.tasks.register(agent);
  onTestFinished(async () => {
    await worker.tasks.close();
    await starter.tasks.close();
    await store.close();
    await other.close();
  });
  return { url, store, starter, worker };
}

async function countJobs(url: string): Promise<Record<string, number>> {
  const { searchParams } = new URL(url);
  const client = new pg.Client({ connectionString: url.slice(0, url.indexOf("?")) });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT state::text, count(*)::int AS count FROM "${searchParams.get("schema")}_jobs".job GROUP BY state`,
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  } finally {
    await client.end();
  }
}

describe.skipIf("problem" in server)(`workers over PostgreSQL (${describeProblem(server)})`, () => {
  test("workers over PostgreSQL run tasks that another machine starts, kills and follows, within the limits and with one notice each", async () => {
    const { url, store, starter, worker } = await openTwo();
    const ids = ["a1", "b1", "a2", "b2"];
    for (const id of ids)
      await starter.tasks.start(
        "stepper",
        { steps: 2, pauseMs: 20 },
        { id, queue: "q", person: id.startsWith("a") ? "ada" : "bob" },
      );
    // Sent by the transaction that created the task, before any worker was there.
    expect(await countJobs(url)).toEqual({ created: 4 });
    await worker.tasks.work({ queues: ["q", "r"], maxPerPerson: 1 });
    for (const id of ids) expect((await starter.tasks.wait(id)).state).toBe("completed");
    await starter.tasks.start("waiter", null, { id: "w", queue: "r" });
    for await (const entry of starter.tasks.output("w", { block: true }))
      if (entry.kind === "task" && entry.note.type === "output") break;
    expect(await starter.tasks.kill("w", "from afar")).toMatchObject({
      state: "killed",
      outcome: { reason: "from afar" },
    });
    await worker.tasks.cleaned();
    await checkEnded(store, ["w"], 0);
    const found = await checkEnded(store, ids, 2);
    expect([...(await findMaxRunning(store, found.values())).values()]).toEqual([1, 1]);
    await expect.poll(() => countJobs(url)).toEqual({ completed: 5 });
    expect([...starter.warnings, ...worker.warnings]).toEqual([]);
  });
});
