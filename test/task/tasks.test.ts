import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import type { Agent, AgentContext } from "../../src/task/agent.ts";
import { makeHost, type TestSession } from "./host.ts";
import { gate, notesOf, noticesIn, testHost } from "./world.ts";

type Context = AgentContext<TestSession>;

async function* greet(context: Context) {
  yield { type: "output" as const, text: "hello" };
  yield { type: "message" as const, message: { role: "assistant" as const, text: `I got ${context.input}` } };
  return { said: 1 };
}

/** Resolves when the task "t" has said something of a type. */
async function until(store: Store, type: string): Promise<void> {
  const words = () => notesOf(store, "t", "t").catch((): string[] => []);
  await expect.poll(words, { interval: 3 }).toContain(type);
}

/** Says one thing and then waits for its signal. */
async function* patient({ signal }: Context) {
  yield { type: "result" as const, value: "half" };
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

describe("a task", () => {
  test("in the background runs to its end, with every step in the log and one notice", async () => {
    const { tasks, store } = await testHost();
    const notices: string[] = [];
    tasks.onNotice(({ task, state }) => notices.push(`${task} ${state}`));
    const task = await tasks.start(greet, "tea", { id: "t" });
    const status = await task.wait();
    expect(status).toMatchObject({
      state: "completed",
      outcome: { state: "completed", result: { said: 1 } },
    });
    await expect.poll(() => notices).toEqual(["t completed"]);
    expect(await notesOf(store, "t", "t")).toEqual([
      "created",
      "queued>running",
      "output",
      "running>completed",
      "notice",
    ]);
    expect((await tasks.status("t")).notice).toBe("done");
  });

  test("in the foreground is waited for, and its notice goes to the parent's session", async () => {
    const { tasks, store } = await testHost();
    await store.sessions.open({ id: "parent", createdAt: 1 });
    const status = await tasks.run(greet, "tea", { id: "t", parentSession: "parent" });
    expect(status.state).toBe("completed");
    await expect
      .poll(() => noticesIn(store, "parent", "t"))
      .toMatchObject([{ id: "t/ended", state: "completed" }]);
    expect((await store.sessions.get("t"))?.parent).toBe("parent");
  });

  test("that throws has failed, with the error's words and what it had found", async () => {
    const { tasks } = await testHost();
    async function* broken() {
      yield { type: "result" as const, value: 7 };
      throw new Error("out of luck");
    }
    const { outcome } = await (await tasks.start(broken, null)).wait();
    expect(outcome).toEqual({ state: "failed", reason: "error", error: "out of luck", result: 7 });
  });

  test("that is killed has ended at once, keeps what it had found, and can be killed again", async () => {
    const { tasks, census } = await testHost();
    const task = await tasks.start(patient, null);
    for await (const entry of task.output({ block: true }))
      if (entry.kind === "task" && entry.note.type === "result") break;
    const first = await task.kill("enough");
    expect(first.outcome).toEqual({ state: "killed", reason: "enough", result: "half" });
    expect(await task.kill("again")).toMatchObject({ outcome: { reason: "enough" } });
    await expect.poll(() => census.counts().shell).toEqual({ opened: 1, closed: 1 });
  });

  test("deaf to its signal is killed all the same, and nobody waits for it", async () => {
    const { tasks } = await testHost({ limits: { returnMs: 20 } });
    const started = gate();
    async function* deaf() {
      yield { type: "step" as const };
      started.open();
      await new Promise(() => undefined);
    }
    const task = await tasks.start(deaf, null);
    const waiting = task.wait();
    await started.opened;
    await task.kill();
    expect((await waiting).state).toBe("killed");
    await expect.poll(async () => (await task.status()).notice).toBe("done");
  });

  test("may say nothing after its end", async () => {
    const { tasks, store } = await testHost();
    const killed = gate();
    async function* late() {
      try {
        yield { type: "output" as const, text: "before" };
        await killed.opened;
        yield { type: "output" as const, text: "after" };
      } finally {
        await sleep(1);
      }
    }
    const task = await tasks.start(late, null, { id: "t" });
    await task.kill();
    killed.open();
    await expect.poll(async () => (await task.status()).notice).toBe("done");
    expect((await notesOf(store, "t", "t")).filter((note) => note === "output").length).toBeLessThan(2);
  });
});

describe("moving to the background", () => {
  /** Counts to five with a checkpoint each; its iterators and their clean-up are told. */
  const counter = (told: string[], step: () => Promise<void>): Agent<TestSession> => ({
    name: "counter",
    canResume: true,
    async *run({ checkpoint, cause, scope }) {
      told.push(`open ${cause} at ${checkpoint ?? 0}`);
      scope.own({ close: () => void told.push(`close ${cause}`) });
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

  test("ends the foreground's call, cleans it up once, and goes on from the log", async () => {
    const { tasks, store } = await testHost();
    const told: string[] = [];
    const agent = counter(told, () => sleep(30));
    const foreground = tasks.run(agent, null, { id: "t" });
    await until(store, "checkpoint");
    await tasks.detach("t");
    expect(await foreground).toMatchObject({ state: "running", mode: "background" });
    const { outcome } = await tasks.wait("t");
    expect(outcome).toEqual({ state: "completed", result: 5 });
    await expect.poll(() => told.length).toBe(6);
    expect(told[0]).toBe("open start at 0");
    expect(told.slice(1, 3)).toEqual(["finally start", "close start"]);
    expect(told[3]).toMatch(/^open detach at [1-5]$/);
    expect(told.slice(4)).toEqual(["finally detach", "close detach"]);
    expect((await notesOf(store, "t", "t")).filter((note) => note === "checkpoint")).toHaveLength(5);
  });

  test("an agent that cannot be called again keeps its iterator, and loses no event", async () => {
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

  test("frees a task from its caller's signal", async () => {
    const { tasks } = await testHost();
    const caller = new AbortController();
    const foreground = tasks.run(patient, null, { id: "t", signal: caller.signal });
    await expect
      .poll(() =>
        tasks.status("t").then(
          ({ state }) => state,
          () => "none",
        ),
      )
      .toBe("running");
    await tasks.detach("t");
    await foreground;
    caller.abort();
    expect((await tasks.status("t")).state).toBe("running");
    const other = new AbortController();
    const killed = tasks.run(patient, null, { id: "u", signal: other.signal });
    await expect
      .poll(() =>
        tasks.status("u").then(
          ({ state }) => state,
          () => "none",
        ),
      )
      .toBe("running");
    other.abort();
    expect((await killed).outcome).toMatchObject({ state: "killed", reason: "aborted" });
  });

  test("an iterator that does not return is given up after its time, and the background begins", async () => {
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

  test("each shell has a summariser of its own", async () => {
    const told: string[] = [];
    const { tasks, store } = await testHost({
      summariser: ({ epoch, say }) => {
        told.push(`open ${epoch}`);
        void say(`shell ${epoch}`);
        return { close: () => void told.push(`close ${epoch}`) };
      },
    });
    const agent = counter([], () => sleep(30));
    const foreground = tasks.run(agent, null, { id: "t" });
    await until(store, "checkpoint");
    await tasks.detach("t");
    await foreground;
    await tasks.wait("t");
    await expect.poll(() => told).toEqual(["open 1", "close 1", "open 2", "close 2"]);
  });
});

describe("children", () => {
  test("are stopped with their parent, leaves first", async () => {
    const { tasks, store } = await testHost();
    const ends: string[] = [];
    tasks.onNotice(({ task }) => ends.push(task));
    async function* leaf({ signal }: Context) {
      yield { type: "step" as const };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }
    async function* middle(context: Context) {
      await context.start(leaf, null, { id: "leaf" });
      yield* patient(context);
    }
    async function* root(context: Context) {
      await context.start(middle, null, { id: "middle" });
      yield* patient(context);
    }
    const task = await tasks.start(root, null, { id: "root" });
    await expect
      .poll(() =>
        tasks.status("leaf").then(
          ({ state }) => state,
          () => "none",
        ),
      )
      .toBe("running");
    const order: string[] = [];
    const waiting = ["root", "middle", "leaf"].map((id) => tasks.wait(id).then(() => order.push(id)));
    await task.kill();
    await Promise.all(waiting);
    expect(order).toEqual(["leaf", "middle", "root"]);
    const settledAt = async (id: string) => (await tasks.status(id)).state;
    expect(await Promise.all(["root", "middle", "leaf"].map(settledAt))).toEqual([
      "killed",
      "killed",
      "killed",
    ]);
    expect((await tasks.status("leaf")).outcome?.reason).toBe("parent");
    expect((await store.sessions.get("leaf"))?.parent).toBe("middle");
    await expect.poll(() => [...ends].sort()).toEqual(["leaf", "middle", "root"]);
  });

  test("report to their parent's session, and those left are stopped when it completes", async () => {
    const { tasks, store } = await testHost();
    async function* root(context: Context) {
      const quick = await context.start(greet, "x", { id: "quick" });
      await context.start(patient, null, { id: "slow" });
      const { outcome } = await quick.wait();
      yield { type: "output" as const, text: JSON.stringify(outcome?.result) };
    }
    expect((await tasks.run(root, null, { id: "root" })).state).toBe("completed");
    expect((await tasks.status("slow")).outcome).toMatchObject({ state: "killed", reason: "parent" });
    await expect.poll(async () => (await noticesIn(store, "root", "quick")).length).toBe(1);
    await expect.poll(async () => (await noticesIn(store, "root", "slow")).length).toBe(1);
  });
});

describe("limits", () => {
  test("a task past its deadline has failed", async () => {
    const { tasks } = await testHost();
    const { outcome } = await (await tasks.start(patient, null, { deadlineMs: 30 })).wait();
    expect(outcome).toMatchObject({ state: "failed", reason: "deadline", result: "half" });
  });

  test.each([
    ["tokens", { tokens: 100 }],
    ["dollars", { dollars: 0.5 }],
    ["steps", { steps: 3 }],
  ])("a budget of %s ends a task that uses more", async (_, budget) => {
    const { tasks } = await testHost();
    async function* spender() {
      for (;;) {
        yield { type: "step" as const };
        yield { type: "usage" as const, usage: { inputTokens: 20, outputTokens: 10, cost: 0.2 } };
      }
    }
    const { outcome } = await (await tasks.start(spender, null, { budget })).wait();
    expect(outcome).toMatchObject({ state: "failed", reason: "budget" });
  });

  test("the same call with the same result is told, and ends the task if it should", async () => {
    const { tasks, store } = await testHost();
    async function* stuck() {
      for (let round = 0; round < 8; round++) {
        const callId = `c${round}`;
        const call = { type: "tool-call" as const, callId, name: "read", input: { path: "a.ts" } };
        yield { type: "message" as const, message: { role: "assistant" as const, parts: [call] } };
        const result = { type: "tool-result" as const, callId, output: "no such file" };
        yield { type: "message" as const, message: { role: "tool" as const, parts: [result] } };
      }
    }
    expect((await (await tasks.start(stuck, null, { id: "told" })).wait()).state).toBe("completed");
    expect((await notesOf(store, "told", "told")).filter((note) => note === "loop")).toHaveLength(1);
    const stopped = await tasks.start(stuck, null, { loopGuard: { repeats: 3, isStopping: true } });
    expect((await stopped.wait()).outcome).toMatchObject({
      reason: "loop",
      error: expect.stringContaining("read"),
    });
  });

  test("tasks above the number that may run wait their turn, and children never do", async () => {
    const { tasks } = await testHost({ limits: { maxRunning: 2 } });
    let most = 0;
    let now = 0;
    async function* child() {
      yield { type: "step" as const };
    }
    async function* busy(context: Context) {
      most = Math.max(most, ++now);
      await (await context.start(child, null)).wait();
      yield { type: "step" as const };
      now--;
    }
    const started = await Promise.all(Array.from({ length: 7 }, () => tasks.start(busy, null)));
    const ended = await Promise.all(started.map((task) => task.wait()));
    expect(ended.map(({ state }) => state)).toEqual(Array(7).fill("completed"));
    expect(most).toBe(2);
  });

  test("a result that cannot be kept does not keep a task from completing", async () => {
    const { tasks } = await testHost();
    async function* huge() {
      yield { type: "step" as const };
      return "x".repeat(5_000_000);
    }
    expect((await (await tasks.start(huge, null)).wait()).outcome).toEqual({
      state: "completed",
      isResultOmitted: true,
    });
  });
});

describe("steps after the end", () => {
  test("come in order, go into the notice, and one that hangs holds nobody up", async () => {
    const order: string[] = [];
    const { tasks, store } = await testHost({
      limits: { stepMs: 30 },
      afterEnd: [
        {
          name: "handOff",
          run: async ({ outcome }) => {
            order.push("handOff");
            return { isSafe: outcome.state === "completed" };
          },
        },
        { name: "hanging", run: () => new Promise(() => undefined) },
        { name: "failing", run: () => Promise.reject(new Error("no")) },
      ],
      isolations: {
        worktree: {
          prepare: async (task) => ({ path: `/repo/${task}` }),
          settle: async (_, place) => ({ verdict: "changed", ...(place as object) }),
        },
      },
    });
    async function* looks({ place }: Context) {
      yield { type: "output" as const, text: JSON.stringify(place) };
    }
    const task = await tasks.start(looks, null, { id: "t", isolation: "worktree" });
    expect((await task.wait()).state).toBe("completed");
    await expect
      .poll(async () => (await noticesIn(store, "t", "t"))[0]?.facts)
      .toEqual({
        handOff: { isSafe: true },
        hanging: { isUnknown: true, why: "not done in time" },
        failing: { isUnknown: true, why: "no" },
        worktree: { verdict: "changed", path: "/repo/t" },
      });
    expect(order).toEqual(["handOff"]);
  });

  test("a notice goes out at least once, with the same id each time", async () => {
    const sent: string[] = [];
    const { tasks } = await testHost({
      channels: [
        {
          name: "flaky",
          send: async ({ id }) => {
            sent.push(id);
            if (sent.length < 2) throw new Error("not now");
          },
        },
      ],
    });
    await (await tasks.start(greet, null, { id: "t" })).wait();
    await expect.poll(async () => (await tasks.status("t")).notice, { timeout: 5_000 }).toBe("done");
    expect(sent).toEqual(["t/ended", "t/ended"]);
  });

  test("closing waits no longer than its grace, and the next supervisor sends the notice", async () => {
    const host = await testHost({
      limits: { graceMs: 50 },
      afterEnd: [{ name: "hanging", run: () => new Promise(() => undefined) }],
    });
    const { tasks, store } = host;
    const task = await tasks.start(greet, null, { id: "t" });
    await task.wait();
    await tasks.close();
    expect(await noticesIn(store, "t", "t")).toEqual([]);
    const next = makeHost(store);
    expect(await next.tasks.recover()).toMatchObject({ finished: 1 });
    await expect.poll(async () => (await noticesIn(store, "t", "t")).length).toBe(1);
    await next.tasks.close();
  });
});

describe("from another process", () => {
  test("a task is seen, read along, waited for, moved and killed", async () => {
    const { tasks, store } = await testHost({ limits: { wishMs: 10 } });
    const other = makeHost(store);
    const foreground = tasks.run(patient, null, { id: "t" });
    await expect
      .poll(() =>
        other.tasks.status("t").then(
          ({ state }) => state,
          () => "none",
        ),
      )
      .toBe("running");
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
});
