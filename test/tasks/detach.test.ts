import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/tasks/agent.ts";
import { patient, until, untilRunning } from "./agents.ts";
import type { TestSession } from "./host.ts";
import { gate, notesOf, testHost } from "./world.ts";

describe("moving to the background", () => {
  /** An agent that counts to five with a checkpoint each; records its iterators and their cleanup. */
  const counter = (told: string[], step: () => Promise<void>): Agent<TestSession> => ({
    name: "counter",
    canResume: true,
    async *run({ checkpoint, cause, lifetime }) {
      told.push(`open ${cause} at ${checkpoint ?? 0}`);
      lifetime.own({ close: () => void told.push(`close ${cause}`) });
      try {
        for (let count = Number(checkpoint ?? 0) + 1; count <= 5; count++) {
          await step();
          yield { type: "checkpoint", value: count };
        }
        return 5;
      } finally {
        told.push(`finally ${cause}`);
      }
    },
  });

  /**
   * Runs the counter as "t", moves it to the background after its first checkpoint, and returns its caller's result.
   */
  async function detachCounter({ tasks, store }: Awaited<ReturnType<typeof testHost>>, told: string[] = []) {
    const go = gate();
    let steps = 0;
    const agent = counter(told, async () => (++steps === 1 ? undefined : go.opened));
    const foreground = tasks.run(agent, null, { id: "t" });
    await until(store, "checkpoint");
    const detaching = tasks.detach("t");
    await until(store, "running>detaching");
    go.open();
    await detaching;
    return foreground;
  }

  test("moving to the background ends the foreground call, cleans up once, and continues from the log", async () => {
    const host = await testHost({ limits: { returnMs: 20_000 } });
    const { tasks, store } = host;
    const told: string[] = [];
    expect(await detachCounter(host, told)).toMatchObject({ state: "running", mode: "background" });
    const { outcome } = await tasks.wait("t");
    expect(outcome).toEqual({ state: "completed", result: 5 });
    await expect.poll(() => told.length).toBe(6);
    expect(told[0]).toBe("open start at 0");
    expect(told.slice(1, 3)).toEqual(["finally start", "close start"]);
    expect(told[3]).toMatch(/^open detach at [1-5]$/);
    expect(told.slice(4)).toEqual(["finally detach", "close detach"]);
    expect((await notesOf(store, "t", "t")).filter((note) => note === "checkpoint")).toHaveLength(5);
  });

  test("an agent that cannot be resumed keeps its iterator, and loses no event", async () => {
    const { tasks, store } = await testHost();
    const go = gate();
    let calls = 0;
    async function* once() {
      calls++;
      yield { type: "output" as const, text: "1" };
      await go.opened;
      yield { type: "output" as const, text: "2" };
      return "both";
    }
    const foreground = tasks.run(once, null, { id: "t" });
    await until(store, "output");
    await tasks.detach("t");
    expect((await foreground).mode).toBe("background");
    go.open();
    expect((await tasks.wait("t")).outcome).toEqual({ state: "completed", result: "both" });
    expect((await notesOf(store, "t", "t")).filter((note) => note === "output")).toHaveLength(2);
    expect(calls).toBe(1);
  });

  test("a task in the background ignores the signal of its caller", async () => {
    const { tasks } = await testHost();
    const caller = new AbortController();
    const foreground = tasks.run(patient, null, { id: "t", signal: caller.signal });
    await untilRunning(tasks, "t");
    await tasks.detach("t");
    await foreground;
    caller.abort();
    expect((await tasks.status("t")).state).toBe("running");
    const other = new AbortController();
    const killed = tasks.run(patient, null, { id: "u", signal: other.signal });
    await untilRunning(tasks, "u");
    other.abort();
    expect((await killed).outcome).toMatchObject({ state: "killed", reason: "aborted" });
  });

  test("an iterator that does not return is abandoned after its time limit, and the background begins", async () => {
    const { tasks, store } = await testHost({ limits: { returnMs: 30 } });
    let calls = 0;
    const stubborn: Agent<TestSession> = {
      name: "stubborn",
      canResume: true,
      async *run() {
        if (++calls === 2) return "second";
        yield { type: "step" };
        await new Promise(() => undefined);
        return "first";
      },
    };
    const foreground = tasks.run(stubborn, null, { id: "t" });
    await until(store, "step");
    await tasks.detach("t");
    await foreground;
    expect((await tasks.wait("t")).outcome).toEqual({ state: "completed", result: "second" });
  });

  test("each run of a task has its own summarizer", async () => {
    const told: string[] = [];
    const host = await testHost({
      limits: { returnMs: 20_000 },
      summariser: ({ epoch, say }) => {
        told.push(`open ${epoch}`);
        void say(`shell ${epoch}`);
        return { close: () => void told.push(`close ${epoch}`) };
      },
    });
    await detachCounter(host);
    await host.tasks.wait("t");
    await expect.poll(() => told).toEqual(["open 1", "close 1", "open 2", "close 2"]);
  });
});
