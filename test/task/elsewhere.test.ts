import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/task/agent.ts";
import { greet, patient, until, untilRunning } from "./agents.ts";
import { makeHost, type TestSession } from "./host.ts";
import { testHost } from "./world.ts";

describe("from another process", () => {
  test("a task is seen, read along, waited for, moved and killed", async () => {
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

  test("a task of an agent that is not known here waits for a process that knows it", async () => {
    const { tasks, store } = await testHost();
    const task = await tasks.start("greet", "tea", { id: "t" });
    expect((await task.status()).state).toBe("queued");
    const other = makeHost(store);
    other.tasks.register({ name: "greet", canResume: true, run: greet });
    expect(await other.tasks.recover()).toMatchObject({ resumed: 1 });
    expect((await task.wait()).outcome?.state).toBe("completed");
    await other.tasks.close();
  });

  test("a process that lets its tasks go when it closes hands them to the next", async () => {
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
