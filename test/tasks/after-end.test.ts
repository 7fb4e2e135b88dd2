import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { turns } from "../support/eventually.ts";
import { proofTest } from "../support/proof.ts";
import { type Context, greet } from "./agents.ts";
import { makeHost } from "./host.ts";
import { gate, noticesIn, testHost } from "./world.ts";

describe("the steps after the end of a task", () => {
  test("steps after the end of a task run in order, are listed in the notice, and a hanging step blocks nothing", async () => {
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

  proofTest("a notice is sent until its delivery succeeds, with the same id each time", async () => {
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
    await expect.poll(async () => (await tasks.status("t")).notice).toBe("done");
    expect(sent).toEqual(["t/ended", "t/ended"]);
  });

  test("a closing supervisor waits no longer than its grace, and the next supervisor sends the notice", async () => {
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

test("waiting for clean-up includes a place that was still being made when its task was killed", async () => {
  const taken: string[] = [];
  const begun = gate();
  const isolations = {
    box: {
      prepare: async (_task: string, _plan: unknown, signal: AbortSignal) => {
        begun.open();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await turns();
        taken.push("back");
        throw new Error("stopped");
      },
      settle: async () => undefined,
    },
  };
  const { tasks } = await testHost({ isolations });
  const task = await tasks.start(greet, null, { id: "t", isolation: "box" });
  await begun.opened;
  expect((await task.kill()).state).toBe("killed");
  await tasks.cleaned();
  expect(taken).toEqual(["back"]);
});

test("a place that is ready too late is settled at once", async () => {
  const settled: unknown[] = [];
  const isolations = {
    box: {
      limitMs: 20,
      prepare: async () => {
        await sleep(80);
        return "late";
      },
      settle: async (_task: string, place: unknown) => void settled.push(place),
    },
  };
  const { tasks } = await testHost({ isolations });
  const task = await tasks.start(greet, null, { id: "t", isolation: "box" });
  expect((await task.wait()).outcome?.error).toContain("not ready in time");
  await tasks.cleaned();
  expect(settled).toEqual(["late"]);
});
