import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TaskPlan } from "../../../src/model/task.ts";
import { startCommand } from "../../../src/task/process/run-command.ts";
import { type WorktreePlace, worktreeIsolation } from "../../../src/task/worktree/isolation.ts";
import { collectStale } from "../../../src/task/worktree/stale.ts";
import { countTagged, freshTag, shell } from "../process/family.ts";
import { makeRepository, writeAt } from "./repository.ts";

const plan = {} as TaskPlan;
const { signal } = new AbortController();

test("a task gets a place, the same when it is resumed, and the notice says what became of it", async () => {
  const repository = makeRepository();
  repository.write("packages/one/x.txt", "x");
  repository.git("add", ".");
  repository.git("commit", "-qm", "packages");
  const options = { repository: join(repository.path, "packages/one"), root: repository.root };
  const task = freshTag();
  const place = (await worktreeIsolation(options).prepare(
    task,
    plan,
    signal,
    task,
  )) as unknown as WorktreePlace;
  expect(place).toMatchObject({ branch: `longhaul/${task}`, folder: join(place.path, "packages/one") });
  const later = worktreeIsolation(options);
  expect(await later.prepare(task, plan, signal, task)).toMatchObject({
    path: place.path,
    folder: place.folder,
  });
  const collected = await collectStale({ ...options, isLeased: async () => false, olderThanMs: 0 });
  expect(collected).toMatchObject({ spared: 1, removed: [] });
  writeAt(place.path, "new.txt", "work");
  expect(await later.settle(task, { ...place }, signal, task)).toEqual({
    state: "changed",
    changes: ["untracked"],
    isRemoved: false,
    path: place.path,
    branch: place.branch,
  });
});

test("a place that nobody waits for any more is not left behind", async () => {
  const repository = makeRepository();
  const isolation = worktreeIsolation({ repository: repository.path, root: repository.root });
  for (const delayMs of [1, 40, 60, 80, 100, 130]) {
    const preparing = isolation.prepare("t", plan, AbortSignal.timeout(delayMs), "t");
    await preparing.then(
      (place) => isolation.settle("t", place, signal, "t"),
      (error) => expect(error).toMatchObject({ code: "ABORTED" }),
    );
    expect(repository.git("worktree", "list").split("\n").length).toBe(1);
    expect(repository.git("branch", "--list", "longhaul/*")).toBe("");
  }
});

test("a place without changes is gone after the end, with what still ran there", async () => {
  const repository = makeRepository();
  const task = freshTag();
  const isolation = worktreeIsolation({ repository: () => repository.path, root: repository.root });
  const place = (await isolation.prepare(task, plan, signal, task)) as unknown as WorktreePlace;
  const command = await startCommand({
    ...shell("sleep 600; echo x > late.txt"),
    cwd: place.path,
    tag: task,
  });
  expect(await isolation.settle(task, { ...place }, signal, task)).toEqual({
    state: "unchanged",
    isRemoved: true,
  });
  expect(existsSync(place.path)).toBe(false);
  expect(await countTagged(task)).toBe(0);
  await command.ended;
  expect(await isolation.settle(task, { ...place }, signal, task)).toEqual({
    state: "unchanged",
    isRemoved: true,
  });
});
