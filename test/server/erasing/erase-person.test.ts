import { expect, test } from "vitest";
import { requireErasable } from "../../../src/server/erasing/erase-person.ts";
import { testKernel } from "../../support/kernel.ts";

test("the counts of an erasure contain every memory, however many a page has", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const memories = kernel.memories("gateway:@bob");
  const most = 1_001;
  for (let number = 1; number <= most; number++)
    await memories.remember(`The lamp of room ${number} is green.`, { by: "user" });
  await kernel.team.add("bob", { by: "test" });
  const person = { name: "bob", prefixes: ["@bob/"], memoryAgent: "gateway:@bob" };
  expect((await requireErasable(kernel, person)).memories).toBe(most);
});
