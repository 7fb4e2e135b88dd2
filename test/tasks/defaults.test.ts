import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandAgent } from "../../src/kernel/faces/task.ts";
import { type KernelOptions, openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { freshTag, shell } from "./process/family.ts";
import { makeRepository } from "./worktree/repository.ts";

async function testKernel(options: KernelOptions = {}) {
  const kernel = await openKernel({ path: ":memory:", ...options });
  onTestFinished(() => kernel.close());
  return kernel;
}

test("a task can work in a worktree without configuration, of the kernel's repository or of its own", async () => {
  const [first, second] = [makeRepository(), makeRepository("other")];
  const kernel = await testKernel({ tasks: { repository: first.path } });
  const work = async (options: { readonly repository?: string }) => {
    const id = freshTag();
    const task = await kernel.tasks.start(commandAgent({ lingerMs: 0 }), shell("echo work > new.txt"), {
      id,
      isolation: "worktree",
      ...options,
    });
    expect((await task.wait()).state).toBe("completed");
    await kernel.tasks.cleaned();
    return { id, details: await kernel.tasks.describe(id) };
  };
  for (const [repository, options] of [
    [first, {}],
    [second, { repository: second.path }],
  ] as const) {
    const { id, details } = await work(options);
    const path = `${repository.path}.worktrees/${id}`;
    expect(details.plan).toMatchObject({ isolation: "worktree", repository: repository.path });
    expect(details.notice?.facts?.worktree).toMatchObject({ state: "changed", path });
    expect(existsSync(join(path, "new.txt"))).toBe(true);
  }
});

test("a task uses the repository of the process by default, and a folder without a repository is refused", async () => {
  const kernel = await testKernel();
  const folder = testFolder();
  const task = await kernel.tasks.start(commandAgent(), shell("true"), {
    id: freshTag(),
    isolation: "worktree",
    repository: folder,
  });
  const { outcome } = await task.wait();
  expect(outcome?.error).toContain(`${JSON.stringify(folder)} is in no git repository`);
  const queued = await kernel.tasks.start("somebody", null, { isolation: "worktree" });
  expect((await kernel.tasks.sketch(queued.id)).plan?.repository).toBe(process.cwd());
});

test("an isolation of the user's own replaces the default one", async () => {
  const kernel = await testKernel({
    tasks: { isolations: { worktree: { prepare: async () => "a box", settle: async () => "opened" } } },
  });
  const task = await kernel.tasks.start(
    async function* where({ place }) {
      yield { type: "result", value: place ?? null };
    },
    null,
    { isolation: "worktree" },
  );
  expect((await task.wait()).outcome?.result).toBe("a box");
});
