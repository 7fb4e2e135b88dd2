import { expect, test } from "vitest";
import { commandAgent, runCommand } from "../../src/kernel/faces/task.ts";
import { testKernel } from "../support/kernel.ts";
import { freshTag, shell } from "./process/family.ts";
import { makeRepository } from "./worktree/repository.ts";

test("the kernel counts the programs of tasks, the calls of git, and the programs of agents", async () => {
  const repository = makeRepository();
  const kernel = await testKernel({ path: ":memory:", tasks: { repository: repository.path } });
  const agent = commandAgent({ lingerMs: 0 });
  const running = await kernel.tasks.start(agent, shell("sleep 30"), { id: freshTag() });
  await expect.poll(() => kernel.counts().process).toEqual({ opened: 1, closed: 0 });
  await running.kill();
  await expect.poll(() => kernel.counts().process).toEqual({ opened: 1, closed: 1 });
  await kernel.tasks.run(
    async function* startsOne({ tag, lifetime }) {
      const { exitCode = -1 } = await runCommand({
        command: "true",
        tag,
        census: lifetime.census,
        lingerMs: 0,
      });
      yield { type: "result", value: exitCode };
    },
    null,
    { id: freshTag() },
  );
  expect(kernel.counts().process).toEqual({ opened: 2, closed: 2 });
  await kernel.tasks.run(agent, shell("true"), { id: freshTag(), isolation: "worktree" });
  await kernel.tasks.cleaned();
  const { opened = 0, closed = 0 } = kernel.counts().process ?? {};
  expect(opened).toBeGreaterThan(4);
  expect(closed).toBe(opened);
  await kernel.close();
  for (const count of Object.values(kernel.counts())) expect(count.closed).toBe(count.opened);
});
