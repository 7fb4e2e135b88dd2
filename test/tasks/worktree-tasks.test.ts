import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { TaskNotice } from "../../src/model/task.ts";
import { commandAgent } from "../../src/tasks/command-agent.ts";
import { reapStep } from "../../src/tasks/reap-step.ts";
import { worktreeIsolation } from "../../src/tasks/worktree-isolation.ts";
import { eventually } from "../support/eventually.ts";
import { countTagged, freshTag, shell } from "./process/family.ts";
import { makeRepository } from "./worktree/repository.ts";
import { noticesIn, testHost } from "./world.ts";

test("programs run as tasks in worktrees, the notice names the work, and unchanged worktrees are removed", async () => {
  const repository = makeRepository();
  const { tasks, store } = await testHost({
    isolations: { worktree: worktreeIsolation({ repository: repository.path, root: repository.root }) },
    afterEnd: [reapStep({ graceMs: 200 })],
  });
  const agent = commandAgent({ graceMs: 200, lingerMs: 0 });
  const start = async (code: string) => {
    const id = freshTag();
    return { id, handle: await tasks.start(agent, shell(code), { id, isolation: "worktree" }) };
  };
  const noticeOf = async (id: string, session: string): Promise<TaskNotice> => {
    await eventually(
      "the notice is in the session",
      async () => (await noticesIn(store, session, id)).length === 1,
    );
    const [notice] = await noticesIn(store, session, id);
    if (!notice) throw new Error("There is no notice.");
    return notice;
  };

  const worked = await start("setsid sleep 600 & echo work > new.txt");
  expect(await worked.handle.wait()).toMatchObject({
    state: "completed",
    outcome: { result: { exitCode: 0 } },
  });
  const notice = await noticeOf(worked.id, worked.handle.session);
  const path = `${repository.root}/${worked.id}`;
  expect(notice.facts?.worktree).toMatchObject({ state: "changed", path, branch: `longhaul/${worked.id}` });

  const failed = await start("echo trouble >&2; exit 4");
  const status = await failed.handle.wait();
  expect(status).toMatchObject({
    state: "failed",
    outcome: { error: "sh failed with exit code 4: trouble" },
  });
  expect((await noticeOf(failed.id, failed.handle.session)).facts?.worktree).toMatchObject({
    isRemoved: true,
  });

  const killed = await start("echo started; trap '' TERM; setsid sleep 600 & while :; do sleep 1; done");
  for await (const entry of killed.handle.output({ block: true }))
    if (entry.kind === "task" && entry.note.type === "output") break;
  expect(await killed.handle.kill()).toMatchObject({ state: "killed" });
  expect((await noticeOf(killed.id, killed.handle.session)).facts?.worktree).toMatchObject({
    isRemoved: true,
  });
  for (const { id } of [worked, failed, killed]) expect(await countTagged(id)).toBe(0);
  expect([existsSync(path), repository.git("worktree", "list").split("\n").length]).toEqual([true, 2]);
});
