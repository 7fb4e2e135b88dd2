import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { proofTest } from "../support/proof.ts";
import { type Context, patient } from "./agents.ts";
import { makeHost } from "./host.ts";
import { notesOf, testHost } from "./world.ts";

describe("limits", () => {
  proofTest("a task past its deadline fails", async () => {
    const { tasks } = await testHost();
    const { outcome } = await (await tasks.start(patient, null, { deadlineMs: 1_500 })).wait();
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

  test("a budget of dollars prices tokens by their model, and refuses a model without a price at once", async () => {
    await using kernel = await openKernel({ path: ":memory:", embedder: null });
    const spender = (model: string | undefined, agentModel?: string) => ({
      name: "spender",
      ...(agentModel !== undefined && { model: agentModel }),
      async *run() {
        const usage = { inputTokens: 100_000, outputTokens: 10_000 };
        for (let at = 0; at < 100; at++) yield { type: "usage" as const, usage, ...(model && { model }) };
        return "done";
      },
    });
    const budget = { dollars: 1 };
    // $0.30 for input and $0.15 for output each time.
    for (const agent of [spender("claude-sonnet-4-5"), spender(undefined, "claude-sonnet-4-5")]) {
      const task = await kernel.tasks.start(agent, null, { budget });
      expect((await task.wait()).outcome).toMatchObject({ state: "failed", reason: "budget" });
      expect((await kernel.tasks.describe(task.id)).spent.dollars).toBeCloseTo(1.35, 5);
    }
    await expect(
      kernel.tasks.start(spender(undefined, "no-such-model"), null, { budget }),
    ).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
      message: expect.stringContaining('price of "no-such-model"'),
    });
    for (const agent of [spender("no-such-model"), spender(undefined)]) {
      const { outcome } = await (await kernel.tasks.start(agent, null, { budget })).wait();
      expect(outcome).toMatchObject({
        reason: "budget",
        error: expect.stringContaining("A budget of $1 needs"),
      });
    }
  });

  test.each([-5, 0.5, Number.NaN, 1e308])(
    "an event with a usage of %s tokens is refused",
    async (inputTokens) => {
      const { tasks } = await testHost();
      async function* forger() {
        yield { type: "usage" as const, usage: { inputTokens } };
      }
      const { outcome } = await (await tasks.start(forger, null)).wait();
      expect(outcome).toMatchObject({
        reason: "error",
        error: expect.stringContaining("event.usage.inputTokens"),
      });
    },
  );

  test("a repeated call with the same result causes a warning, and can end the task", async () => {
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

  test("tasks beyond the limit wait for their turn, and children never wait", async () => {
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

  test("a task whose deadline passed while the machine slept fails as soon as this is noticed", async () => {
    let asleepMs = 0;
    const { store } = await testHost();
    const { tasks } = makeHost(store, { clock: { now: () => Date.now() + asleepMs } });
    const task = await tasks.start(patient, null, { deadlineMs: 3_600_000 });
    await tasks.recover();
    expect((await task.status()).state).toBe("running");
    asleepMs = 3_600_000;
    // Twice, because the first call may share a sweep that had already begun.
    await tasks.recover();
    await tasks.recover();
    expect((await task.wait()).outcome?.reason).toBe("deadline");
    await tasks.close();
  });

  test("tasks beyond the number that a process may hold are refused", async () => {
    const { tasks } = await testHost({ limits: { maxTasks: 1 } });
    await tasks.start(patient, null);
    await expect(tasks.start(patient, null)).rejects.toMatchObject({ code: "TASK_LIMIT" });
  });

  test("wrong options of a task are refused at once, by name", async () => {
    const { tasks } = await testHost();
    const refused = (options: object) =>
      tasks.start(patient, null, options).catch((error: Error) => error.message);
    expect(await refused({ mode: "sideways" })).toMatch(/^mode is "sideways"/);
    expect(await refused({ isolation: "moon" })).toMatch(/^isolation is "moon"; expected none/);
    expect(await refused({ budget: { steps: -1 } })).toMatch(/^budget.steps is -1/);
    expect(await refused({ deadlineMs: 0 })).toMatch(/^deadlineMs is 0/);
    await tasks.start(patient, null, { id: "taken" });
    await expect(tasks.start(patient, null, { id: "taken" })).rejects.toMatchObject({
      code: "TASK_CONFLICT",
    });
  });

  test("a task completes even if its result is too large to be kept", async () => {
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
