import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Store } from "../../../src/log/store/store.ts";
import type { TaskRecord } from "../../../src/log/store/task-store.ts";
import { claimOwner, releaseOwner } from "../../../src/model/base/owner.ts";
import { isTerminal } from "../../../src/model/task.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { startChild } from "../../support/child.ts";
import { makeHost } from "../host.ts";
import { taskEntries } from "../world.ts";
import { fragile, parent, walker } from "./agents.ts";

const STARTER = new URL("./starter.ts", import.meta.url);

/** Counts of the tasks that killed supervisors left. */
export interface CrashReport {
  readonly tasks: number;
  readonly ended: number;
  readonly resumed: number;
  readonly lost: number;
}

/** A few rounds may by chance kill only before anything is left to resume; then more rounds follow, up to this many times. */
const MAX_FACTOR = 10;

/**
 * Kills a supervisor with SIGKILL at a random moment, `rounds` times on one store, and checks every task each time. Goes on
 * until a fifth of the planned rounds have left tasks to resume, and lost ones.
 */
export async function crashRounds(path: string, rounds: number): Promise<CrashReport> {
  // Warms the compile cache with a child that exits by itself; otherwise each child would mostly
  // compile the same sources.
  process.env.NODE_COMPILE_CACHE = join(path, "compiled");
  await startChild(STARTER, []).ended();
  const report = { tasks: 0, ended: 0, resumed: 0, lost: 0 };
  const isThin = () => Math.min(report.resumed, report.lost) <= rounds / 5;
  for (let round = 0; round < rounds || (isThin() && round < MAX_FACTOR * rounds); round++) {
    const said = await killedStarter(path, round);
    report.ended += said.ended.size;
    const store = await openSqliteStore({ path });
    const owner = claimOwner();
    const { tasks, warnings } = makeHost(store, { owner });
    for (const agent of [walker, fragile, parent]) tasks.register(agent);
    try {
      const recovered = await tasks.recover();
      report.resumed += recovered.resumed;
      report.lost += recovered.lost;
      for (const task of await openTasks(store))
        expect(isTerminal(task.state) || task.owner === owner, `${task.id} is run by someone`).toBe(true);
      const all = await tasksOf(store, round);
      report.tasks += all.length;
      expect(new Set(all.map(({ id }) => id))).toEqual(new Set([...said.made, ...all.map(({ id }) => id)]));
      for (const { id } of all) await tasks.wait(id);
      await expect.poll(async () => (await openTasks(store)).length, { interval: 5 }).toBe(0);
      for (const task of await tasksOf(store, round)) await checkTask(store, task, said.ended.get(task.id));
      expect(warnings).toEqual([]);
    } finally {
      await tasks.close();
      releaseOwner(owner);
      await store.close();
    }
  }
  return report;
}

async function killedStarter(path: string, round: number) {
  const child = startChild(STARTER, [path, `${round}`]);
  const made = new Set<string>();
  const ended = new Map<string, string>();
  // The moment is counted mainly in actions and only a little in time, so that a slow machine runs the same test.
  let left = Math.ceil(Math.random() * 16);
  const kill = async () => {
    await sleep(Math.random() * 5);
    child.process.kill("SIGKILL");
  };
  for await (const line of child.lines) {
    if (--left === 0) void kill();
    const [word, id = "", state = ""] = line.split(" ");
    if (word === "made") made.add(id);
    // The kill may truncate the last line.
    if (word === "ended" && /^(completed|failed|killed)$/.test(state)) ended.set(id, state);
  }
  expect(await child.ended(), child.errors()).toBe("SIGKILL");
  expect(made.size).toBeGreaterThan(0);
  return { made, ended };
}

async function openTasks(store: Store): Promise<readonly TaskRecord[]> {
  const open = await Promise.all(
    (await store.tasks.owners()).map((owner) => store.tasks.openOf(owner, { limit: 1_000 })),
  );
  return open.flat();
}

async function tasksOf(store: Store, round: number): Promise<readonly TaskRecord[]> {
  const all = await store.tasks.list({ limit: 1_000 });
  return all.filter(({ id }) => id.startsWith(`${round}-`));
}

async function checkTask(store: Store, task: TaskRecord, acknowledged: string | undefined): Promise<void> {
  expect(isTerminal(task.state)).toBe(true);
  if (acknowledged !== undefined) expect(task.state, `${task.id} ended once`).toBe(acknowledged);
  const own = await taskEntries(store, task.session, task.id);
  const parents =
    task.parentSession === undefined ? [] : await taskEntries(store, task.parentSession, task.id);
  expect([...own, ...parents].filter(({ note }) => note.type === "notice")).toHaveLength(1);
  expect(own.filter(({ note }) => note.type === "moved" && isTerminal(note.to))).toHaveLength(1);
  if (task.state !== "completed" || task.agent === "parent") return;
  const steps = own.flatMap(({ note }) => (note.type === "checkpoint" ? [note.value] : []));
  // A step that was logged before its process died is not repeated.
  expect(steps).toEqual([1, 2, 3]);
}
