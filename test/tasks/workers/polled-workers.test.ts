import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { makeHost } from "../host.ts";
import { testHost } from "../world.ts";
import { checkEnded, findMaxRunning } from "./check-tasks.ts";
import { brittle, stepper, waiter } from "./worker-agents.ts";

const AGENTS = [stepper, brittle, waiter];

describe("workers of an embedded store", () => {
  test("workers of an embedded store take tasks of their queues within the limits, and each task ends once with one notice", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const starter = makeHost(store);
    const workers = [makeHost(store), makeHost(store)];
    onTestFinished(async () => {
      for (const { tasks } of [starter, ...workers]) await tasks.close();
      await store.close();
    });
    const ids: string[] = [];
    for (let number = 0; number < 4; number++) {
      const person = number % 2 === 0 ? "ada" : "bob";
      ids.push(`t${number}`);
      await starter.tasks.start(
        "stepper",
        { steps: 2, pauseMs: 10 },
        { id: `t${number}`, queue: "q", person },
      );
    }
    await starter.tasks.start("stepper", { steps: 1, pauseMs: 0 }, { id: "other", queue: "elsewhere" });
    await starter.tasks.start("unknown", null, { id: "strange", queue: "q" });
    for (const { tasks } of workers) {
      for (const agent of AGENTS) tasks.register(agent);
      // Sweeps leave tasks of queues alone.
      expect(await tasks.recover()).toMatchObject({ resumed: 0, lost: 0 });
      await tasks.work({ queues: ["q"], concurrency: 3, maxPerPerson: 1 });
    }
    for (const id of ids) expect((await starter.tasks.wait(id)).state).toBe("completed");
    for (const { tasks } of workers) await tasks.cleaned();
    const found = await checkEnded(store, ids, 2);
    expect(await findMaxRunning(store, found.values())).toEqual(
      new Map([
        ["ada", 1],
        ["bob", 1],
      ]),
    );
    expect((await starter.tasks.status("other")).state).toBe("queued");
    expect((await starter.tasks.status("strange")).state).toBe("queued");
  });

  test("closing workers return tasks that can be resumed, and end the others", async () => {
    const { tasks: starter, store } = await testHost();
    const [first, second] = [makeHost(store), makeHost(store)];
    onTestFinished(async () => {
      await first.tasks.close();
      await second.tasks.close();
    });
    for (const { tasks } of [first, second]) for (const agent of AGENTS) tasks.register(agent);
    await starter.start("stepper", { steps: 4, pauseMs: 100 }, { id: "steps", queue: "q" });
    await starter.start("brittle", { steps: 500, pauseMs: 100 }, { id: "brittle", queue: "q" });
    const taken = Promise.withResolvers<void>();
    const seen: string[] = [];
    const worker = await first.tasks.work({
      queues: ["q"],
      onTask: ({ type, task }) => {
        seen.push(`${type} ${task}`);
        if (seen.length === 2) taken.resolve();
      },
    });
    await taken.promise;
    await worker.close();
    expect(await starter.status("steps")).toMatchObject({ state: "queued", resumes: 0 });
    expect(await starter.status("brittle")).toMatchObject({ state: "killed", outcome: { reason: "closed" } });
    expect(seen).toContain("left steps");
    await second.tasks.work({ queues: ["q"] });
    expect(await starter.wait("steps")).toMatchObject({ state: "completed", resumes: 0 });
    await second.tasks.cleaned();
    await checkEnded(store, ["steps", "brittle"], 4);
  });

  test("wrong queues are refused, and a task of a queue cannot run in the foreground", async () => {
    const { tasks } = await testHost();
    const code = (error: unknown) => (error as { code?: string }).code;
    await expect(tasks.work({ queues: ["a b"] })).rejects.toSatisfy(
      (error) => code(error) === "ARGUMENT_INVALID",
    );
    await expect(tasks.work({ queues: [] })).rejects.toThrow(/at least one queue/);
    await expect(tasks.work({ concurrency: 0 })).rejects.toThrow(/concurrency/);
    await expect(tasks.start("x", null, { queue: "q", mode: "foreground" })).rejects.toThrow(/background/);
    await expect(tasks.start("x", null, { person: "ada" })).rejects.toThrow(/queue/);
    await expect(tasks.start("x", null, { queue: "q", person: "" })).rejects.toThrow(/person/);
  });
});
