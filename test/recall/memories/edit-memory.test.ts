import { expect, test } from "vitest";
import { editMemory } from "../../../src/kernel/faces/memory.ts";
import { testKernel } from "../../support/kernel.ts";

test("a new text replaces a memory, belongs to the person, and keeps source and dates", async () => {
  const kernel = await testKernel();
  const memories = kernel.memories("a");
  const saved = await memories.remember("The pier is closed.", { by: "agent", source: "s", until: 4e12 });
  const edited = await editMemory(memories, saved?.id ?? "", { text: "The pier is open." });
  expect(edited).toMatchObject({
    text: "The pier is open.",
    by: "user",
    trust: "user",
    source: "s",
    until: 4e12,
  });
  expect(await memories.list()).toEqual([edited]);
  await expect(memories.remember("The pier is closed!", { by: "agent" })).rejects.toThrow("forgotten");
});

test("a correction of the spelling does not erase the new memory", async () => {
  const kernel = await testKernel();
  const memories = kernel.memories("a");
  const saved = await memories.remember("tea, not coffee", { by: "user" });
  const edited = await editMemory(memories, saved?.id ?? "", { text: "Tea, not coffee." });
  expect((await memories.list()).map(({ text }) => text)).toEqual(["Tea, not coffee."]);
  expect(await memories.get(edited.id)).toBeDefined();
});

test("dates change without a new memory, and null removes a date", async () => {
  const kernel = await testKernel();
  const memories = kernel.memories("a");
  const { id } = (await memories.remember("Open until spring.", { by: "user", from: 5 })) ?? { id: "" };
  expect(await editMemory(memories, id, { until: 4e12 })).toMatchObject({ id, from: 5, until: 4e12 });
  const free = await editMemory(memories, id, { from: null, until: null });
  expect(free.id).toBe(id);
  expect(free.from ?? free.until).toBeUndefined();
  await expect(editMemory(memories, "memory:a#9", { text: "x" })).rejects.toMatchObject({
    code: "ENTRY_NOT_FOUND",
  });
  await expect(editMemory(memories, id, { text: "  " })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  expect(await memories.list()).toHaveLength(1);
});
