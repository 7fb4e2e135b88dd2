import { describe, expect, test } from "vitest";
import { type Context, greet, patient, untilRunning } from "./agents.ts";
import { noticesIn, testHost } from "./world.ts";

describe("children", () => {
  test("children are stopped with their parent, leaves first", async () => {
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
    await untilRunning(tasks, "leaf");
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

  test("children report to their parent's session, and remaining children are stopped when the parent completes", async () => {
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
