import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/tasks/agent.ts";
import { proofTest } from "../support/proof.ts";
import { type Context, greet, patient, until, untilRunning } from "./agents.ts";
import { makeHost, type TestSession } from "./host.ts";
import { gate, testHost } from "./world.ts";

describe("a task controlled from another process", () => {
  test("another process can see, follow, await, move and kill a task", async () => {
    const { tasks, store } = await testHost({ limits: { wishMs: 10 } });
    const other = makeHost(store);
    const foreground = tasks.run(patient, null, { id: "t" });
    await untilRunning(other.tasks, "t");
    const lines: string[] = [];
    const reading = (async () => {
      for await (const entry of other.tasks.output("t", { block: true }))
        if (entry.kind === "task") lines.push(entry.note.type);
    })();
    expect(await other.tasks.detach("t")).toMatchObject({ mode: "background", state: "running" });
    expect((await foreground).mode).toBe("background");
    const waiting = other.tasks.wait("t");
    expect(await other.tasks.kill("t", "from afar")).toMatchObject({
      outcome: { reason: "from afar", result: "half" },
    });
    expect((await waiting).state).toBe("killed");
    await reading;
    expect(lines.slice(0, 3)).toEqual(["created", "moved", "result"]);
    expect(lines.at(-1)).toBe("moved");
    await other.tasks.close();
  });

  test("a task is not taken from a process whose machine slept, unless the process stays silent", async () => {
    let now = 1_000_000;
    const clock = { now: () => now };
    const { store } = await testHost();
    const owner = `${hostname()}|${process.ppid}|sleeper`;
    const sleeper = makeHost(store, { clock, owner });
    const other = makeHost(store, { clock });
    const task = await sleeper.tasks.start(patient, null, { id: "t" });
    await until(store, "result");
    now += 3_600_000;
    expect(await other.tasks.recover()).toMatchObject({ lost: 0 });
    now += 14_000;
    expect(await other.tasks.recover()).toMatchObject({ lost: 0 });
    expect((await task.status()).state).toBe("running");
    now += 2_000;
    // Twice, because the first call may share a sweep that had already begun.
    await other.tasks.recover();
    await other.tasks.recover();
    expect(await task.status()).toMatchObject({ state: "failed", outcome: { reason: "lost" } });
    await Promise.all([sleeper.tasks.close(), other.tasks.close()]);
  });

  proofTest(
    "a task whose session was deleted is stopped even if it is silent, and nobody waits for its output",
    async () => {
      const { tasks, store } = await testHost();
      const stopped = gate();
      async function* silent({ signal }: Context) {
        yield { type: "step" as const };
        signal.addEventListener("abort", () => stopped.open());
        await stopped.opened;
      }
      await tasks.start(silent, null, { id: "t" });
      await until(store, "step");
      const read = async () => {
        for await (const _ of tasks.output("t", { block: true }));
      };
      const reading = expect(read()).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
      await store.sessions.delete("t");
      await tasks.recover();
      await tasks.recover();
      await stopped.opened;
      await reading;
      await expect(tasks.kill("t")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    },
  );

  test("a caller that waits for a deleted task gets an error, even if no process runs the task", async () => {
    const { tasks, store } = await testHost();
    await tasks.start("nobody", null, { id: "t" });
    const waiting = expect(tasks.wait("t")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    // By then it has seen the task and is listening.
    for (let reads = 0; reads < 5; reads++) await tasks.status("t");
    await store.sessions.delete("t");
    await waiting;
  });

  test("a task of an unknown agent waits for a process that knows the agent", async () => {
    const { tasks, store } = await testHost();
    const task = await tasks.start("greet", "tea", { id: "t" });
    expect((await task.status()).state).toBe("queued");
    const other = makeHost(store);
    other.tasks.register({ name: "greet", canResume: true, run: greet });
    expect(await other.tasks.recover()).toMatchObject({ resumed: 1 });
    expect((await task.wait()).outcome?.state).toBe("completed");
    await other.tasks.close();
  });

  test("a process that releases its tasks when it closes hands them to the next process", async () => {
    const { tasks, store } = await testHost({ onClose: "release" });
    let calls = 0;
    const agent: Agent<TestSession> = {
      name: "relay",
      canResume: true,
      async *run({ checkpoint, signal }) {
        calls++;
        if (checkpoint === "baton") return "arrived";
        yield { type: "checkpoint", value: "baton" };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return "never";
      },
    };
    await tasks.start(agent, null, { id: "t" });
    await until(store, "checkpoint");
    await tasks.close();
    const next = makeHost(store);
    expect(await next.tasks.status("t")).toMatchObject({ state: "queued" });
    next.tasks.register(agent);
    await next.tasks.recover();
    expect((await next.tasks.wait("t")).outcome).toEqual({ state: "completed", result: "arrived" });
    expect(calls).toBe(2);
    await next.tasks.close();
  });
});
