import fc from "fast-check";
import { expect, test } from "vitest";
import { editMemory } from "../../../src/kernel/faces/memory.ts";
import { testKernel } from "../../support/kernel.ts";

test("memories keep the order of all moves, whatever else is remembered and forgotten", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  let agents = 0;
  const step = fc.record({
    type: fc.constantFrom("remember", "top", "above", "below", "below", "above", "forget"),
    which: fc.nat(20),
    other: fc.nat(20),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const memories = kernel.memories(`agent ${++agents}`, { pins: 3 });
      const model: string[] = [];
      const insert = (id: string, at: number) => model.splice(at, 0, id);
      for (const [index, { type, which, other }] of steps.entries()) {
        const id = model[which % model.length];
        const neighbor = model[other % model.length];
        if (type === "remember" || id === undefined || neighbor === undefined) {
          const saved = await memories.remember(`fact ${index} of ${agents}`, { by: "user" });
          model.unshift(saved?.id ?? "");
        } else if (type === "forget") {
          await memories.forget(id);
          model.splice(model.indexOf(id), 1);
        } else if (type === "top") {
          await memories.move(id, "top");
          model.splice(model.indexOf(id), 1);
          insert(id, 0);
        } else {
          await memories.move(id, type === "above" ? { above: neighbor } : { below: neighbor });
          if (id === neighbor) continue;
          model.splice(model.indexOf(id), 1);
          insert(id, model.indexOf(neighbor) + (type === "above" ? 0 : 1));
        }
      }
      const ids = (await memories.list()).map(({ id }) => id);
      expect(ids).toEqual(model);
      expect((await memories.pins()).map(({ id }) => id).reverse()).toEqual(model.slice(0, 3));
      for (let at = 0; at < model.length; at += 3) {
        const page = await memories.list({ limit: 3, ...(at > 0 && { before: model[at - 1] as string }) });
        expect(page.map(({ id }) => id)).toEqual(model.slice(at, at + 3));
      }
    }),
    { numRuns: 15 },
  );
});

test("memories stay in exact order after a hundred moves into one gap", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const memories = kernel.memories("a");
  const ids: string[] = [];
  for (const text of ["one", "two", "three", "four"])
    ids.push((await memories.remember(text, { by: "user" }))?.id ?? "");
  const [last = "", third = "", second = "", first = ""] = ids;
  for (let round = 0; round < 50; round++) {
    await memories.move(third, { below: first });
    expect((await memories.list()).map(({ id }) => id)).toEqual([first, third, second, last]);
    await memories.move(second, { below: first });
    expect((await memories.list()).map(({ id }) => id)).toEqual([first, second, third, last]);
  }
});

test("an edited memory keeps its place", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const memories = kernel.memories("a");
  const texts = async () => (await memories.list()).map(({ text }) => text);
  const ids: string[] = [];
  for (const text of ["one", "two", "three"])
    ids.push((await memories.remember(text, { by: "user" }))?.id ?? "");
  await editMemory(memories, ids[1] ?? "", { text: "second" });
  expect(await texts()).toEqual(["three", "second", "one"]);
  await editMemory(memories, ids[0] ?? "", { text: "One." });
  expect(await texts()).toEqual(["three", "second", "One."]);
});

test("a move to a place that does not exist is refused, and nothing moves", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const memories = kernel.memories("a");
  const { id } = (await memories.remember("one", { by: "user" })) ?? { id: "" };
  await expect(memories.move(id, { above: "memory:a#99" })).rejects.toMatchObject({
    code: "ENTRY_NOT_FOUND",
  });
  await expect(memories.move("memory:a#99", "top")).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  await expect(memories.move(id, {} as never)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  expect((await memories.history()).map(({ change }) => change)).toEqual(["remembered"]);
});
