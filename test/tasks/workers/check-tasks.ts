import { expect } from "vitest";
import type { Store } from "../../../src/log/store/store.ts";
import type { TaskRecord } from "../../../src/log/store/task-store.ts";
import { isTerminal } from "../../../src/model/task.ts";
import { taskEntries } from "../world.ts";

/** Checks that each task has ended once with one notice, and that no step of a completed one is missing or repeated. */
export async function checkEnded(
  store: Store,
  ids: readonly string[],
  steps: number,
): Promise<ReadonlyMap<string, TaskRecord>> {
  const found = new Map<string, TaskRecord>();
  for (const id of ids) {
    const task = await store.tasks.get(id);
    expect(task, `${id} exists`).toBeDefined();
    if (!task) continue;
    found.set(id, task);
    expect(isTerminal(task.state), `${id} has ended, but is ${task.state}`).toBe(true);
    const entries = await taskEntries(store, task.session, id);
    const count = (isCounted: (entry: (typeof entries)[number]) => boolean) =>
      entries.filter(isCounted).length;
    expect(
      count(({ note }) => note.type === "notice"),
      `${id} has one notice`,
    ).toBe(1);
    expect(
      count(({ note }) => note.type === "moved" && isTerminal(note.to)),
      `${id} ended once`,
    ).toBe(1);
    const last = entries.findIndex(({ note }) => note.type === "moved" && isTerminal(note.to));
    expect(
      entries.slice(last + 1).every(({ note }) => note.type === "notice"),
      `nothing but the notice follows the end of ${id}`,
    ).toBe(true);
    if (task.state !== "completed") continue;
    const done = entries.flatMap(({ note }) => (note.type === "checkpoint" ? [note.value] : []));
    expect(done, `each step of ${id} was written once`).toEqual(
      Array.from({ length: steps }, (_, index) => index + 1),
    );
  }
  return found;
}

/** The largest number of tasks of one person that ran at once, by the times of their moves. */
export async function findMaxRunning(
  store: Store,
  tasks: Iterable<TaskRecord>,
): Promise<Map<string, number>> {
  const changes = new Map<string, { at: number; by: 1 | -1 }[]>();
  for (const task of tasks) {
    const person = task.person ?? "";
    const list = changes.get(person) ?? [];
    changes.set(person, list);
    for (const { at, note } of await taskEntries(store, task.session, task.id)) {
      if (note.type !== "moved") continue;
      if (note.to === "running" && note.from === "queued") list.push({ at, by: 1 });
      if (note.from === "running" && note.to !== "running") list.push({ at, by: -1 });
    }
  }
  const most = new Map<string, number>();
  for (const [person, list] of changes) {
    let running = 0;
    // An end and a beginning in the same millisecond are not at once.
    for (const { by } of list.sort((one, other) => one.at - other.at || one.by - other.by)) {
      running += by;
      most.set(person, Math.max(most.get(person) ?? 0, running));
    }
  }
  return most;
}
