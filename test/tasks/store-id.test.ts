import { join } from "node:path";
import { expect, test } from "vitest";
import { commandAgent } from "../../src/kernel/faces/task.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { countTagged, freshTag } from "./process/family.ts";

test("tasks with the same id in two stores do not end each other's processes", async () => {
  const folder = testFolder();
  const id = freshTag();
  await using first = await openKernel({ path: join(folder, "first") });
  await using second = await openKernel({ path: join(folder, "second") });
  const sleeping = { command: "sleep", args: ["600"] };
  const [one, other] = [
    await first.tasks.start(commandAgent({ graceMs: 0 }), sleeping, { id }),
    await second.tasks.start(commandAgent({ graceMs: 0 }), sleeping, { id }),
  ];
  await eventually("two processes carry the id", async () => (await countTagged(id)) === 2);
  const [tag, otherTag] = [await first.tasks.tag(id), await second.tasks.tag(id)];
  expect(tag).not.toBe(otherTag);
  expect([await countTagged(tag), await countTagged(otherTag)]).toEqual([1, 1]);
  await one.kill();
  await first.tasks.cleaned();
  expect([await countTagged(tag), await countTagged(otherTag)]).toEqual([0, 1]);
  expect((await other.status()).state).toBe("running");
});

test("a store has the same id for all who open it, at once or later", async () => {
  const path = testFolder();
  const kernels = await Promise.all([openKernel({ path }), openKernel({ path })]);
  const tags = await Promise.all(kernels.map(({ tasks }) => tasks.tag("t")));
  await Promise.all(kernels.map((kernel) => kernel.close()));
  await using later = await openKernel({ path });
  expect(new Set([...tags, await later.tasks.tag("t")]).size).toBe(1);
});
