import { describe, expect, onTestFinished, test } from "vitest";
import { type Agent, type Kernel, openKernel, type Session } from "../../src/kernel/index.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { gate } from "./world.ts";

async function testKernel(path = ":memory:"): Promise<Kernel> {
  const kernel = await openKernel({ path, tasks: { handlesSignals: false } });
  onTestFinished(() => kernel.close());
  return kernel;
}

/** An agent that exposes its session and waits until it is released. */
function lender(canResume = false) {
  const lent = gate<Session>();
  const leave = gate();
  const agent: Agent<Session> = {
    name: "lender",
    canResume,
    async *run({ session, cause }) {
      if (cause === "start") lent.open(await session());
      yield { type: "output", text: "ready" };
      await leave.opened;
    },
  };
  return { agent, lent: lent.opened, leave: leave.open };
}

const textsOf = async (kernel: Kernel, id: string) => {
  await using session = await kernel.session(id);
  const entries = await session.read({ from: 1, limit: 1_000, kinds: ["message"] });
  return entries.map((entry) => entry.kind === "message" && entry.message.parts[0]);
};

describe("the session of an agent", () => {
  proofTest(
    "the end of a task also closes children, forks and the parent that its agent opened, but no handles of others",
    async () => {
      const kernel = await testKernel();
      await using parent = await kernel.session("parent");
      await parent.append({ role: "user", text: "before" });
      const { agent, lent } = lender();
      const task = await kernel.tasks.start(agent, null, { id: "t", parentSession: "parent" });
      const session = await lent;
      const child = await session.child({ id: "below" });
      const [fork, up] = [await session.fork({ id: "beside" }), (await session.parent()) as Session];
      await child.append({ role: "user", text: "in time" });
      await task.kill();
      for (const late of [child, fork, up])
        await expect(late.append({ role: "user", text: "too late" })).rejects.toMatchObject({
          code: expect.stringMatching(/TASK_CONFLICT|CLOSED/),
        });
      expect(await textsOf(kernel, "below")).toHaveLength(1);
      await parent.append({ role: "user", text: "after" });
      expect(await textsOf(kernel, "parent")).toHaveLength(2);
    },
  );

  proofTest(
    "the session of an agent accepts messages while the task runs, and refuses them after the end",
    async () => {
      const kernel = await testKernel();
      const { agent, lent } = lender();
      const task = await kernel.tasks.start(agent, null, { id: "t" });
      const session = await lent;
      await session.append({ role: "user", text: "in time" });
      const blob = session.append({ role: "user", parts: [{ type: "data", data: new Uint8Array(200_000) }] });
      await blob;
      const killing = task.kill();
      const late = Array.from({ length: 50 }, () =>
        session.append({ role: "user", text: "late" }).then(
          () => "kept",
          (error) => error.code,
        ),
      );
      await killing;
      const answers = new Set(await Promise.all(late));
      expect(["TASK_CONFLICT", "CLOSED", "kept"]).toEqual(expect.arrayContaining([...answers]));
      await expect(session.append({ role: "user", text: "too late" })).rejects.toMatchObject({
        code: expect.stringMatching(/TASK_CONFLICT|CLOSED/),
      });
      const { lastSeq } = await kernel.tasks.status("t");
      await using reader = await kernel.session("t");
      const after = await reader.read({ from: lastSeq + 1, limit: 100, kinds: ["message"] });
      expect(after).toEqual([]);
    },
  );

  test("the session of an agent refuses messages once another process has taken the task over", async () => {
    const path = testFolder();
    const kernel = await testKernel(path);
    const { agent, lent, leave } = lender();
    await kernel.tasks.start(agent, null, { id: "t" });
    const session = await lent;
    await session.append({ role: "user", text: "mine" });
    // Simulates another process that takes this one for dead.
    const other = await testKernel(path);
    const { openSqliteStore } = await import("../../src/stores/sqlite/index.ts");
    const store = await openSqliteStore({ path });
    const { epoch } = await kernel.tasks.status("t");
    await store.tasks.change({
      id: "t",
      expect: { epoch },
      set: { epoch: epoch + 1, owner: "elsewhere|1|x" },
    });
    await store.close();
    await expect(session.append({ role: "user", text: "not mine" })).rejects.toMatchObject({
      code: "TASK_CONFLICT",
    });
    expect(await textsOf(other, "t")).toEqual([{ type: "text", text: "mine" }]);
    leave();
  });

  test("the session of an agent accepts messages while the task moves to the background", async () => {
    const kernel = await testKernel();
    const { agent, lent, leave } = lender();
    const running = kernel.tasks.run(agent, null, { id: "t" });
    const session = await lent;
    let isOver = false;
    let count = 0;
    const writing = (async () => {
      for (; !isOver; count++) await session.append({ role: "user", text: `${count}` });
    })();
    expect(await kernel.tasks.detach("t")).toMatchObject({ mode: "background", state: "running" });
    isOver = true;
    await writing;
    await running;
    leave();
    expect((await kernel.tasks.wait("t")).state).toBe("completed");
    expect(await textsOf(kernel, "t")).toHaveLength(count);
  });

  test("the session of an agent keeps an unfinished draft as interrupted when the task is killed", async () => {
    const kernel = await testKernel();
    const { agent, lent } = lender();
    const task = await kernel.tasks.start(agent, null, { id: "t" });
    const draft = (await lent).draft({ role: "assistant", text: "" });
    draft.write("half a");
    await task.kill();
    await eventually("the text is in the log", async () => (await textsOf(kernel, "t")).length === 1);
    await using reader = await kernel.session("t");
    expect(await reader.read({ from: 1, limit: 100, kinds: ["message"] })).toMatchObject([
      { message: { interrupted: true, parts: [{ text: "half a" }] } },
    ]);
  });
});
