import { expect } from "vitest";
import type { Store } from "../../../src/log/store/store.ts";
import { isTerminal } from "../../../src/model/task.ts";
import { taskEntries } from "../world.ts";
import type { World } from "./world.ts";

/** Checks the invariants after live processes had enough time to recover the tasks of dead ones. */
export async function checkRecovered(store: Store, world: World): Promise<void> {
  const owners = world.hosts.filter(({ power, closing }) => power.isOn && !closing).map(({ owner }) => owner);
  for (const id of world.tasks) {
    const task = await store.tasks.get(id);
    if (!task || isTerminal(task.state)) continue;
    // A task that waits for room in a capable process has no owner and must not appear to run.
    if (task.state !== "queued" || task.owner !== undefined)
      expect(owners, `${id} is ${task.state}, and its owner lives`).toContain(task.owner);
    const parent = task.parent === undefined ? undefined : await store.tasks.get(task.parent);
    expect(parent === undefined || !isTerminal(parent.state), `${id} outlives its parent`).toBe(true);
  }
}

/** Checks the invariants once everything is at rest. */
export async function checkRest(store: Store, world: World): Promise<void> {
  for (const id of world.tasks) await checkTask(store, world, id);
  for (const host of world.hosts) {
    expect(host.troubles, "calls that failed without cause").toEqual([]);
    if (!host.power.isOn) continue;
    if (!host.power.hasFailed) expect(host.warnings).toEqual([]);
    for (const shell of host.shells) expect(shell.closed, "each call of an agent is cleaned up once").toBe(1);
    const { shell } = host.census.counts();
    if (!world.surroundings.hung.has("close"))
      expect(shell?.opened, "no shell is left open").toBe(shell?.closed);
    for (const wait of host.waits) await checkWait(store, wait);
  }
}

async function checkTask(store: Store, world: World, id: string): Promise<void> {
  const task = await store.tasks.get(id);
  // Its process died before the task was in the log.
  if (!task) return;
  expect(isTerminal(task.state), `${id} is ${task.state}`).toBe(true);
  expect(task.notice).toBe("done");
  expect(world.surroundings.sent, "the notice went out").toContain(`${id}/ended`);
  const own = await taskEntries(store, task.session, id);
  const elsewhere = task.parentSession === undefined ? [] : await taskEntries(store, task.parentSession, id);
  const notices = [...own, ...elsewhere].filter(({ note }) => note.type === "notice");
  expect(notices, "one notice").toHaveLength(1);
  let owner: string | undefined;
  let reason: string | undefined;
  let state = "queued";
  let ends = 0;
  for (const { note } of own) {
    if (note.type === "output") {
      expect(ends, "nothing is said after the end").toBe(0);
      expect(note.text, "only the owner speaks").toBe(owner);
    }
    if (note.type !== "moved") continue;
    expect(note.from, "moves follow each other").toBe(state);
    state = note.to;
    owner = note.owner ?? owner;
    reason = note.outcome?.reason;
    if (isTerminal(note.to)) ends++;
  }
  expect(ends, "one end").toBe(1);
  const { made = 0, settled = 0 } = world.surroundings.places.get(id) ?? {};
  if (made > 0) expect(settled, `the place of ${id} is decided on`).toBeGreaterThan(0);
  if (!world.isGentle) return;
  expect(settled, `every place of ${id} is decided on once`).toBe(made);
  expect(["error", "lost"], `${id} is not lost without a reason`).not.toContain(reason);
  expect(state).toBe(task.state);
}

async function checkWait(
  store: Store,
  { task, ended }: World["hosts"][number]["waits"][number],
): Promise<void> {
  expect(ended, `whoever waits for ${task} is free`).toBeDefined();
  if (ended instanceof Error) {
    expect((ended as Error & { code?: string }).code).toMatch(/^(CLOSED|TASK_NOT_FOUND|STORE_.*)$/);
    return;
  }
  const now = await store.tasks.get(task);
  // A task that was deleted after its end no longer exists.
  if (now) expect(ended?.state).toBe(now.state);
}
