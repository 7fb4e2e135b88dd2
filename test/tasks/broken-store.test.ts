import { expect, test } from "vitest";
import type { ErrorCode } from "../../src/model/errors.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { processCleanups } from "../../src/tasks/process/cleanups.ts";
import { type Context, greet, patient, until } from "./agents.ts";
import { breakable, isNoteOf, isNotice, type StoreCall } from "./breakable.ts";
import { makeHost, remoteOwner, type TestSession } from "./host.ts";
import { gate } from "./world.ts";

test("a detach that the store cannot record causes a warning, and succeeds once the store works again", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let isBroken = false;
  const here = makeHost(
    breakable(store, ({ method }) => (isBroken && method === "append" ? "STORE_CORRUPT" : undefined)),
    { limits: { wishMs: 20 } },
  );
  const there = makeHost(store);
  const foreground = here.tasks.run(patient, null, { id: "t" });
  await until(store, "result");
  isBroken = true;
  const detaching = there.tasks.detach("t");
  await expect.poll(() => here.warnings.join()).toContain("Task t was not moved to the background");
  isBroken = false;
  expect(await detaching).toMatchObject({ mode: "background" });
  expect(await foreground).toMatchObject({ state: "running", mode: "background" });
  await there.tasks.close();
  await here.tasks.close();
  await store.close();
});

test("a store error while tasks are released at the end blocks nothing: the other tasks are released, and none keeps running", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let isBroken = false;
  const host = makeHost(
    breakable(store, ({ method }) => (isBroken && method === "append" ? "STORE_CORRUPT" : undefined)),
    { onClose: "release" },
  );
  const waiting: string[] = [];
  const stopped: string[] = [];
  const agent = {
    name: "listener",
    canResume: true,
    async *run({ task, signal }: { readonly task: string; readonly signal: AbortSignal }) {
      yield { type: "step" as const };
      waiting.push(task);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      stopped.push(task);
      return null;
    },
  };
  for (const id of ["a", "b"]) await host.tasks.start(agent, null, { id });
  await expect.poll(() => waiting.length).toBe(2);
  isBroken = true;
  await host.tasks.close();
  expect(host.warnings.filter((warning) => warning.includes("could not be let go"))).toHaveLength(2);
  await expect.poll(() => stopped.length).toBe(2);
  await store.close();
});

/** Fails the first `times` matching calls, and counts them. */
function failing(times: number, code: ErrorCode, isMeant: (call: StoreCall) => boolean) {
  const failed = { count: 0 };
  const codeOf = (call: StoreCall) => {
    if (failed.count === times || !isMeant(call)) return undefined;
    failed.count++;
    return code;
  };
  return { failed, codeOf };
}

test("a busy store during the search for a killed task's children does not lose the task", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const { failed, codeOf } = failing(
    2,
    "STORE_BUSY",
    ({ part, method }) => part === "tasks" && method === "list",
  );
  const host = makeHost(breakable(store, codeOf));
  async function* parent(context: Context) {
    await context.start(patient, null, { id: "child" });
    yield* patient(context);
  }
  const task = await host.tasks.start(parent, null, { id: "t" });
  await until(store, "result");
  expect(await task.kill("enough")).toMatchObject({ state: "killed", outcome: { reason: "enough" } });
  expect(failed.count).toBe(2);
  expect(await host.tasks.status("child")).toMatchObject({ state: "killed", outcome: { reason: "parent" } });
  await host.tasks.close();
  await store.close();
});

test("a task waits while a busy store cannot record its place, and does not fail", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const { failed, codeOf } = failing(2, "STORE_BUSY", (call) => isNoteOf(call, "isolated"));
  const settled: string[] = [];
  const isolations = {
    box: { prepare: async () => "here", settle: async (task: string) => void settled.push(task) },
  };
  const host = makeHost(breakable(store, codeOf), { isolations });
  const task = await host.tasks.start(greet, null, { id: "t", isolation: "box" });
  expect((await task.wait()).outcome).toEqual({ state: "completed", result: { said: 1 } });
  expect(failed.count).toBe(2);
  await host.tasks.cleaned();
  expect(settled).toEqual(["t"]);
  await host.tasks.close();
  await store.close();
});

test("a kill ends an agent and its children even if the store cannot be written", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let isFull = false;
  const codeOf = ({ method }: StoreCall) => (isFull && method === "append" ? "DISK_FULL" : undefined);
  const host = makeHost(breakable(store, codeOf), { limits: { closeMs: 50 } });
  const stopped = gate();
  async function* parent(context: Context) {
    await context.start(patient, null, { id: "child" });
    yield { type: "step" as const };
    context.signal.addEventListener("abort", () => stopped.open());
    await stopped.opened;
  }
  const task = await host.tasks.start(parent, null, { id: "t" });
  await until(store, "step");
  isFull = true;
  const killing = task.kill("enough");
  await stopped.opened;
  isFull = false;
  expect((await killing).outcome).toMatchObject({ reason: "enough" });
  await host.tasks.close();
  await store.close();
});

test("a clean-up that fails during an earlier one of the same task causes a warning, and ends no process", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const { codeOf } = failing(1, "STORE_CORRUPT", isNotice);
  const host = makeHost(breakable(store, codeOf));
  const left = gate();
  async function* slow() {
    try {
      yield { type: "step" as const };
      await left.opened;
    } finally {
      await left.opened;
    }
  }
  await host.tasks.start(slow, null, { id: "t" });
  await until(store, "step");
  // Another process has taken the task over and died: this process drops the task, which takes a while.
  const { epoch } = await host.tasks.status("t");
  const taken = { owner: remoteOwner(), epoch: epoch + 1 };
  await store.tasks.change({ id: "t", expect: { epoch }, set: taken });
  const recovering = host.tasks.recover();
  expect(await host.tasks.kill("t")).toMatchObject({ state: expect.stringMatching(/killed|failed/) });
  await expect.poll(() => host.warnings.join()).toContain("Clean-up after task t failed");
  left.open();
  await recovering;
  await host.tasks.close();
  await store.close();
});

test("a task that cannot be read does not prevent the recovery of other tasks of a dead process", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const dead = makeHost(store);
  for (const id of ["a", "b", "c"]) await dead.tasks.start(patient, null, { id });
  await store.leases.release(`tasks ${dead.owner}`, dead.owner);
  const isUnreadable = ({ part, method, args }: StoreCall) =>
    part === "entries" && method === "read" && args[0] === "a" ? "STORE_CORRUPT" : undefined;
  const host = makeHost(breakable(store, isUnreadable));
  expect(await host.tasks.recover()).toMatchObject({ lost: 2 });
  expect(host.warnings.join()).toContain("Task a could not be looked after");
  await host.tasks.close();
  await dead.tasks.close();
  await store.close();
});

test("a session that failed to open is opened when the agent asks again", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let asked = 0;
  const openSession = async (id: string): Promise<TestSession> => {
    if (++asked === 1) throw new Error("busy");
    return { id };
  };
  const host = makeHost(store, { openSession });
  async function* stubborn(context: Context) {
    yield { type: "step" as const };
    await expect(context.session()).rejects.toThrow("busy");
    return (await context.session()).id;
  }
  const task = await host.tasks.start(stubborn, null, { id: "t" });
  expect((await task.wait()).outcome).toEqual({ state: "completed", result: "t" });
  await host.tasks.close();
  await store.close();
});

test("a listener to warnings that throws does not end the process", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let isBroken = false;
  const told: string[] = [];
  const host = makeHost(
    breakable(store, ({ method }) => (isBroken && method === "append" ? "STORE_CORRUPT" : undefined)),
    {
      onWarning: (warning) => {
        told.push(warning);
        throw new Error("no room for warnings");
      },
    },
  );
  const task = await host.tasks.start(patient, null, { id: "t" });
  await until(store, "result");
  isBroken = true;
  const killing = task.kill().catch(() => undefined);
  await expect.poll(() => told.join()).toContain("could not be written");
  isBroken = false;
  await host.tasks.close();
  await killing;
  await store.close();
});

test("a caller that waits for a task is released when its process ends while the disk is full", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let isFull = false;
  const codeOf = ({ method }: StoreCall) => (isFull && method === "append" ? "DISK_FULL" : undefined);
  const limits = { graceMs: 50, closeMs: 50 };
  const host = makeHost(breakable(store, codeOf), { limits, handlesSignals: true });
  const task = await host.tasks.start(patient, null, { id: "t" });
  await until(store, "result");
  const waiting = expect(task.wait()).rejects.toMatchObject({ code: "CLOSED" });
  isFull = true;
  await processCleanups().run();
  await waiting;
  await host.tasks.close();
  await store.close();
});
