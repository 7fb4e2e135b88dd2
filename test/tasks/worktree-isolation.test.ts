import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TaskPlan } from "../../src/model/task.ts";
import { startCommand } from "../../src/tasks/process/run-command.ts";
import { collectStale } from "../../src/tasks/worktree/collect-stale.ts";
import { createWorktree } from "../../src/tasks/worktree/create-worktree.ts";
import { readMark, type WorktreeMark, writeMark } from "../../src/tasks/worktree/worktree-mark.ts";
import { type WorktreePlace, worktreeIsolation } from "../../src/tasks/worktree-isolation.ts";
import { proofTest } from "../support/proof.ts";
import { countTagged, freshTag, shell } from "./process/family.ts";
import { gitAt, makeRepository, writeAt } from "./worktree/repository.ts";

const plan = {} as TaskPlan;
const { signal } = new AbortController();

test("a task gets a place, the same when it is resumed, and the notice says what happened to the place", async () => {
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

proofTest("a place that nobody waits for is not left behind", async () => {
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

test("a place without changes is removed after the end, with processes still running there", async () => {
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

test("a place made by a process that died before recording it is removed with the task", async () => {
  const repository = makeRepository();
  const isolation = worktreeIsolation({ repository: repository.path, root: repository.root });
  const task = freshTag();
  const tag = `${task}~store`;
  const leave = async (isComplete: boolean) => {
    const options = { repository: repository.path, root: repository.root, task, tag };
    const { worktree } = await createWorktree(options);
    const mark = (await readMark(worktree.admin)) as WorktreeMark;
    const heldBy = { pid: 1, born: "long ago", host: hostname() };
    await writeMark(worktree.admin, { ...mark, heldBy, isComplete });
    return worktree;
  };
  for (const isComplete of [true, false]) {
    await leave(isComplete);
    expect(await isolation.collect?.(task, plan, signal, tag)).toMatchObject({ isRemoved: true });
    expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(repository.git("branch", "--list", "longhaul/*")).toBe("");
  }
  const { path } = await leave(true);
  writeAt(path, "new.txt", "work");
  expect(await isolation.collect?.(task, plan, signal, tag)).toMatchObject({ state: "changed", path });
  expect(existsSync(join(path, "new.txt"))).toBe(true);
});

test("tasks with the same id in two stores work in different places", async () => {
  const repository = makeRepository();
  const options = { repository: repository.path, root: repository.root };
  const [one, other] = [worktreeIsolation(options), worktreeIsolation(options)];
  const first = (await one.prepare("build", plan, signal, "build~one")) as unknown as WorktreePlace;
  const second = (await other.prepare("build", plan, signal, "build~other")) as unknown as WorktreePlace;
  expect(second.path).not.toBe(first.path);
  expect(await other.collect?.("build", plan, signal, "build~other")).toBeUndefined();
  for (const { path } of [first, second]) expect(existsSync(path)).toBe(true);
  await one.settle("build", { ...first }, signal, "build~one");
  await other.settle("build", { ...second }, signal, "build~other");
});

test("a worktree that was removed by hand leaves no branch, unless the branch has commits", async () => {
  const repository = makeRepository();
  const isolation = worktreeIsolation({ repository: repository.path, root: repository.root });
  const settled = async (work: (path: string) => void) => {
    const place = (await isolation.prepare("t", plan, signal, "t")) as unknown as WorktreePlace;
    work(place.path);
    repository.git("worktree", "remove", "--force", "--force", place.path);
    return isolation.settle("t", { ...place }, signal, "t");
  };
  expect(await settled(() => undefined)).toEqual({ state: "unchanged", isRemoved: true });
  expect(repository.git("branch", "--list", "longhaul/*")).toBe("");
  const facts = await settled((path) => gitAt(path, "commit", "--quiet", "--allow-empty", "-m", "work"));
  expect(facts).toEqual({ state: "changed", changes: ["commits"], isRemoved: true, branch: "longhaul/t" });
  expect(repository.git("branch", "--list", "longhaul/*")).toBe("longhaul/t");
});
