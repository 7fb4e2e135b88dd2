import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandAgent } from "../../src/kernel/faces/task.ts";
import { type KernelOptions, openKernel } from "../../src/kernel/index.ts";
import { createWorktree } from "../../src/tasks/worktree/create-worktree.ts";
import type { Worktree } from "../../src/tasks/worktree/worktree.ts";
import { readMark, writeMark } from "../../src/tasks/worktree/worktree-mark.ts";
import { turns } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { freshTag, shell } from "./process/family.ts";
import { makeRepository, type TestRepository, writeAt } from "./worktree/repository.ts";

const HOUR = 3_600_000;

async function testKernel(repository: TestRepository, options: KernelOptions["tasks"] = {}) {
  const warnings: string[] = [];
  const kernel = await openKernel({
    path: testFolder(),
    tasks: {
      repository: repository.path,
      limits: { collectMs: 30, staleMs: HOUR },
      onWarning: (warning) => warnings.push(warning),
      ...options,
    },
  });
  onTestFinished(() => kernel.close());
  return { kernel, warnings };
}

/** A worktree whose holder died some time ago. */
async function leftBehind(repository: TestRepository, task: string, tag?: string, agoMs = 2 * HOUR) {
  const { worktree } = await createWorktree({ repository: repository.path, task, ...(tag && { tag }) });
  const mark = await readMark(worktree.admin);
  const heldBy = mark?.heldBy && { ...mark.heldBy, born: "long ago" };
  if (mark && heldBy) await writeMark(worktree.admin, { ...mark, heldBy, heartbeatAt: Date.now() - agoMs });
  return worktree;
}

const isThere = ({ path }: Worktree) => existsSync(path);

describe("a kernel that runs tasks", () => {
  proofTest(
    "a kernel that runs tasks collects stale worktrees in the background, and no others",
    async () => {
      const repository = makeRepository();
      const { kernel, warnings } = await testKernel(repository);
      const { tasks } = kernel;
      const waiting = await tasks.start("an agent nobody knows here", null, { isolation: "worktree" });
      const stale = await leftBehind(repository, "stale", await tasks.tag("stale"));
      const changed = await leftBehind(repository, "changed", await tasks.tag("changed"));
      writeAt(changed.path, "new.txt", "work");
      const spared = [
        changed,
        await leftBehind(repository, waiting.id, await tasks.tag(waiting.id)),
        await leftBehind(repository, "young", await tasks.tag("young"), HOUR / 2),
        await leftBehind(repository, "elsewhere", "elsewhere:0"),
        await leftBehind(repository, "made by hand"),
      ];
      const running = await tasks.start(commandAgent({ lingerMs: 0 }), shell("sleep 30"), {
        id: freshTag(),
        isolation: "worktree",
      });
      await expect.poll(() => isThere(stale)).toBe(false);
      const place = `${repository.path}.worktrees/${running.id}`;
      await expect.poll(() => existsSync(place)).toBe(true);
      await sleep(300);
      expect(spared.map(isThere)).toEqual(spared.map(() => true));
      expect(existsSync(place)).toBe(true);
      await running.kill();
      expect(warnings).toEqual([]);
    },
  );

  test("a kernel collects no worktrees if this is switched off, or before its first task", async () => {
    const repository = makeRepository();
    const off = await testKernel(repository, { collectsStale: false });
    const idle = await testKernel(repository);
    const worktrees = [
      await leftBehind(repository, "off", await off.kernel.tasks.tag("off")),
      await leftBehind(repository, "idle", await idle.kernel.tasks.tag("idle")),
    ];
    await off.kernel.tasks.run(commandAgent({ lingerMs: 0 }), shell("true"), { id: freshTag() });
    await sleep(400);
    expect(worktrees.map(isThere)).toEqual([true, true]);
  });

  proofTest("a kernel closes quietly during a collection and without a repository", async () => {
    const repository = makeRepository();
    for (const count of [0, 10, 100, 1_000]) {
      const { kernel, warnings } = await testKernel(repository);
      for (const task of ["a", "b"]) await leftBehind(repository, task, await kernel.tasks.tag(task));
      await kernel.tasks.run(commandAgent({ lingerMs: 0 }), shell("true"), { id: freshTag() });
      // With no turn, the collection has not begun; later it is somewhere in the work of git.
      await turns(count);
      await kernel.close();
      expect(warnings).toEqual([]);
      expect(kernel.counts().process?.closed).toBe(kernel.counts().process?.opened);
    }
    const nowhere = await testKernel(repository, { repository: testFolder() });
    await nowhere.kernel.tasks.run(commandAgent({ lingerMs: 0 }), shell("true"), { id: freshTag() });
    await sleep(200);
    expect(nowhere.warnings).toEqual([]);
  });
});
