import { expect } from "vitest";
import type { Store } from "../../../src/log/store/store.ts";
import type { TaskRecord } from "../../../src/log/store/task-store.ts";
import { claimOwner, releaseOwner } from "../../../src/model/base/owner.ts";
import { isTerminal, type TaskState } from "../../../src/model/task.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { startChild } from "../../support/child.ts";
import type { KillMoment } from "../../support/kill-place.ts";
import { makeHost } from "../host.ts";
import { taskEntries } from "../world.ts";
import { fragile, parent, walker } from "./agents.ts";

const STARTER = new URL("./starter.ts", import.meta.url);

/** A place where a supervisor dies, and the end of its task that follows by necessity. */
export interface CrashPlace {
  /** The task by its number: 0 and 3 walk and can resume, 1 and 4 cannot, 2 has children, 5 is killed by its user. */
  readonly task: number;
  /** Step of the task that the store is told, with its number. */
  readonly step: string;
  readonly moment: KillMoment;
  /** State of the task after its recovery; undefined if it must not exist. */
  readonly end: TaskState | undefined;
  /** How often it is taken over. */
  readonly resumes?: number;
}

/** Lets a supervisor kill itself at a place, recovers its tasks, and checks each of them. */
export async function crashAt(path: string, place: CrashPlace): Promise<void> {
  const said = await runStarter(path, place);
  const store = await openSqliteStore({ path });
  const owner = claimOwner();
  const { tasks, warnings } = makeHost(store, { owner });
  for (const agent of [walker, fragile, parent]) tasks.register(agent);
  try {
    await tasks.recover();
    for (const task of await openTasks(store))
      expect(isTerminal(task.state) || task.owner === owner, `${task.id} is run by someone`).toBe(true);
    const all = await store.tasks.list({ limit: 1_000 });
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([...said.made]));
    for (const { id } of all) await tasks.wait(id);
    await expect.poll(async () => (await openTasks(store)).length, { interval: 5 }).toBe(0);
    for (const task of await store.tasks.list({ limit: 1_000 }))
      await checkTask(store, task, said.ended.get(task.id));
    const target = await store.tasks.get(`${place.task}`);
    expect(target?.state).toBe(place.end);
    expect(target?.resumes ?? 0).toBe(place.resumes ?? 0);
    expect(warnings).toEqual([]);
  } finally {
    await tasks.close();
    releaseOwner(owner);
    await store.close();
  }
}

async function runStarter(path: string, { task, step, moment }: CrashPlace) {
  const child = startChild(STARTER, [path, `${task}`, step, moment]);
  const made = new Set<string>();
  const ended = new Map<string, string>();
  let last = "";
  for await (const line of child.lines) {
    const [word, id = "", state = ""] = line.split(" ");
    if (word === "made") made.add(id);
    if (word === "ended") ended.set(id, state);
    last = line;
  }
  expect(await child.ended(), `${last} ${child.errors()}`).toBe("SIGKILL");
  return { made, ended };
}

async function openTasks(store: Store): Promise<readonly TaskRecord[]> {
  const open = await Promise.all(
    (await store.tasks.owners()).map((owner) => store.tasks.openOf(owner, { limit: 1_000 })),
  );
  return open.flat();
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
