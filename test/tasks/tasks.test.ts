import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { AgentFunction } from "../../src/tasks/agent.ts";
import { greet, patient } from "./agents.ts";
import type { TestSession } from "./host.ts";
import { gate, notesOf, noticesIn, testHost } from "./world.ts";

describe("a task", () => {
  test("a task in the background runs to its end, with every step in the log and one notice", async () => {
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

  test("a task in the foreground is awaited, and its notice goes to the parent's session", async () => {
    const { tasks, store } = await testHost();
    await store.sessions.open({ id: "parent", createdAt: 1 });
    const status = await tasks.run(greet, "tea", { id: "t", parentSession: "parent" });
    expect(status.state).toBe("completed");
    await expect
      .poll(() => noticesIn(store, "parent", "t"))
      .toMatchObject([{ id: "t/ended", state: "completed" }]);
    expect((await store.sessions.get("t"))?.parent).toBe("parent");
  });

  test("a failing task in the foreground returns an error with the agent's own error as its cause", async () => {
    const { tasks } = await testHost();
    const mishap = new TypeError("out of luck");
    async function* broken() {
      yield { type: "result" as const, value: 7 };
      throw mishap;
    }
    const { state, outcome, error } = await tasks.run(broken, null, { id: "t" });
    expect({ state, outcome }).toMatchObject({ state: "failed", outcome: { error: "out of luck" } });
    expect(error).toMatchObject({
      code: "TASK_FAILED",
      message: 'Task "t" failed: out of luck',
      details: { task: "t", state: "failed", reason: "error" },
    });
    expect(error?.cause).toBe(mishap);
    expect((await tasks.run(greet, "tea")).error).toBeUndefined();
  });

  test("a task that throws fails with the error's message and the result it had yielded", async () => {
    const { tasks } = await testHost();
    async function* broken() {
      yield { type: "result" as const, value: 7 };
      throw new Error("out of luck");
    }
    const { outcome } = await (await tasks.start(broken, null)).wait();
    expect(outcome).toEqual({ state: "failed", reason: "error", error: "out of luck", result: 7 });
  });

  test("a task whose agent breaks the protocol still ends, with one notice and a helpful message", async () => {
    const { tasks, store } = await testHost();
    const unspeakable = {
      toString() {
        throw new Error("no words");
      },
    };
    const cases: [run: unknown, outcome: object][] = [
      [
        async function* () {
          yield { type: "output", text: "so far so good" };
          throw unspeakable;
        },
        { state: "failed", error: "an error that cannot be put into words" },
      ],
      [async () => 5, { state: "failed", error: expect.stringContaining("async function*") }],
      [
        async function* () {
          yield null;
        },
        { state: "failed", error: expect.stringContaining("expected message, usage") },
      ],
      [
        async function* () {
          return () => "a function";
        },
        { state: "completed", isResultOmitted: true },
      ],
    ];
    for (const [index, [run, outcome]] of cases.entries()) {
      const id = `rude-${index}`;
      const task = await tasks.start({ name: "rude", run: run as AgentFunction<TestSession> }, null, { id });
      expect((await task.wait()).outcome).toMatchObject(outcome);
      await expect.poll(() => noticesIn(store, id, id)).toMatchObject([outcome]);
    }
  });

  test("a killed task ends at once, keeps its result, and can be killed again", async () => {
    const { tasks, census } = await testHost();
    const task = await tasks.start(patient, null);
    for await (const entry of task.output({ block: true }))
      if (entry.kind === "task" && entry.note.type === "result") break;
    const first = await task.kill("enough");
    expect(first.outcome).toEqual({ state: "killed", reason: "enough", result: "half" });
    expect(await task.kill("again")).toMatchObject({ outcome: { reason: "enough" } });
    await expect.poll(() => census.counts().shell).toEqual({ opened: 1, closed: 1 });
  });

  test("tasks can be killed together by parent, queue or session, and each sends one notice", async () => {
    const { tasks, store } = await testHost({ limits: { maxRunning: 2 } });
    const ids = ["one", "two", "waiting", "also-waiting"];
    let begun = 0;
    async function* slow({ signal }: { readonly signal: AbortSignal }) {
      begun++;
      yield { type: "step" as const };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
    for (const id of ids) await tasks.start(slow, null, { id });
    await tasks.start("elsewhere", null, { id: "build", queue: "builds" });
    await expect.poll(() => begun).toBe(2);
    expect((await tasks.killAll({ queue: "builds" })).map(({ id }) => id)).toEqual(["build"]);
    expect((await tasks.killAll({ session: "two" }, "enough")).map(({ id }) => id)).toEqual(["two"]);
    await expect.poll(() => begun).toBe(3);
    const [first, second] = await Promise.all([tasks.killAll({}, "all"), tasks.killAll({}, "all again")]);
    expect(first.map(({ id }) => id).sort()).toEqual(["also-waiting", "one", "waiting"]);
    expect(second.length).toBeLessThanOrEqual(3);
    await tasks.cleaned();
    expect(begun).toBe(3);
    for (const id of [...ids, "build"]) {
      expect((await tasks.status(id)).state).toBe("killed");
      await expect.poll(() => noticesIn(store, id, id)).toHaveLength(1);
    }
    await expect(tasks.killAll({ que: "builds" } as object)).rejects.toThrow("did you mean queue?");
  });

  test("an agent that ignores its signal is killed anyway, and nobody waits for it", async () => {
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

  test("events of a task after its end are dropped", async () => {
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
