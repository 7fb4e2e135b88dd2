import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Memories } from "../../../src/recall/memories/memories.ts";
import { joinPinTexts } from "../../../src/recall/memories/pin-section.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { testMemory } from "../test-memory.ts";

const user = { by: "user" } as const;
const agent = { by: "agent" } as const;

async function memoriesOf(name = "a", pins?: number, path?: string) {
  const fixture = await testMemory({}, path);
  return { ...fixture, memories: new Memories(fixture.log, name, { ...(pins !== undefined && { pins }) }) };
}

describe("remembering", () => {
  test.each([0, 1, 9, 10, 11, 25])(
    "the ten most recent of %i memories are pinned, oldest first",
    async (count) => {
      const { memories } = await memoriesOf();
      for (let index = 1; index <= count; index++) await memories.remember(`fact ${index}`, user);
      const expected = Array.from({ length: count }, (_, index) => `fact ${index + 1}`).slice(-10);
      expect((await memories.pins()).map(({ text }) => text)).toEqual(expected);
      expect(joinPinTexts(await memories.pins())).toBe(expected.join("\n"));
    },
  );

  test("a memory is trimmed, and a blank one is skipped", async () => {
    const { memories } = await memoriesOf();
    for (const blank of ["", "  ", "\n\t\u3000"])
      expect(await memories.remember(blank, user)).toBeUndefined();
    await memories.remember("  喜欢用制表符\n", user);
    expect((await memories.pins()).map(({ text }) => text)).toEqual(["喜欢用制表符"]);
  });

  test("a memory of more than 10 KB is refused with the remedy, and changes nothing", async () => {
    const { memories } = await memoriesOf();
    await memories.remember("字".repeat(3_413), user);
    const long = memories.remember("字".repeat(3_414), user);
    await expect(long).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(long).rejects.toThrow(/at most 10240 bytes; say it shorter/);
    expect(await memories.list()).toHaveLength(1);
  });

  test("the number of pinned memories can be configured", async () => {
    const { memories, log } = await memoriesOf("a", 3);
    for (let index = 1; index <= 5; index++) await memories.remember(`fact ${index}`, agent);
    expect((await memories.pins()).map(({ text }) => text)).toEqual(["fact 3", "fact 4", "fact 5"]);
    expect(await new Memories(log, "a", { pins: 0 }).pinSection()).toBeUndefined();
    expect(() => new Memories(log, "a", { pins: 101 })).toThrow(/pins is 101/);
  });

  test("a memory belongs to its agent only, whatever the names of the agents", async () => {
    const { log } = await testMemory();
    const names = fc.uniqueArray(fc.constantFrom("a", "a#1", "a/b", "memory:a", "甲", "a ", "__proto__"), {
      minLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(names, fc.string(), async (agents, run) => {
        for (const name of agents) await new Memories(log, name).remember(`${run} of ${name}`, agent);
        for (const name of agents) {
          const pins = await new Memories(log, name).pins();
          expect(pins.at(-1)?.text).toBe(`${run} of ${name}`.trim());
          expect(pins.every(({ text }) => text.endsWith(`of ${name}`.trim()))).toBe(true);
        }
      }),
      { numRuns: 15 },
    );
    expect(() => new Memories(log, "  ")).toThrow(/agent is/);
  });

  test("a memory survives a restart, with author and time", async () => {
    const path = testFolder();
    const first = await memoriesOf("a", undefined, path);
    await first.memories.remember("The deploy key is in the vault.", user);
    await first.memories.remember("Staging is slow.", agent);
    const second = await memoriesOf("a", undefined, path);
    expect(await second.memories.pins()).toEqual(await first.memories.pins());
    expect((await second.memories.pins()).map(({ by }) => by)).toEqual(["user", "agent"]);
  });

  test("an old memory leaves the pins, and is still recalled", async () => {
    const { memories, memory } = await memoriesOf();
    await memories.remember("The wombat server listens on port 7781.", agent);
    for (let index = 0; index < 12; index++) await memories.remember(`Lunch ${index} was late.`, agent);
    expect(await memories.pinSection()).not.toContain("wombat");
    const [hit] = (await memory.recall("which port does the wombat server listen on?")).hits;
    expect(hit).toMatchObject({ session: "memory:a", author: "assistant" });
    expect(hit?.text).toContain("7781");
  });

  test("memories are listed newest first, page by page", async () => {
    const { memories } = await memoriesOf();
    for (let index = 1; index <= 5; index++) await memories.remember(`fact ${index}`, user);
    const first = await memories.list({ limit: 2 });
    const rest = await memories.list({ before: first.at(-1)?.id ?? "" });
    expect([...first, ...rest].map(({ text }) => text)).toEqual([5, 4, 3, 2, 1].map((n) => `fact ${n}`));
  });

  test("other entries in the session of an agent's memories are not taken for memories", async () => {
    const { memories, say } = await memoriesOf();
    await memories.remember("one", user);
    await say("memory:a", "I was said here by somebody.");
    await memories.remember("two", user);
    expect((await memories.pins()).map(({ text }) => text)).toEqual(["one", "two"]);
  });
});

describe("forgetting", () => {
  test("a forgotten memory is in no pin, in no recall and nowhere on disk", async () => {
    const path = testFolder();
    const { memories, memory, store } = await memoriesOf("a", undefined, path);
    await memories.remember("My locker code is xylophone90210.", user);
    await memories.remember("Lunch is at noon.", user);
    expect((await memory.recall("locker code xylophone90210")).hits).not.toEqual([]);
    const [locker] = await memories.pins();
    await memories.forget(locker?.id ?? "");
    expect((await memories.pins()).map(({ text }) => text)).toEqual(["Lunch is at noon."]);
    expect((await memory.recall("xylophone90210")).hits).toEqual([]);
    await store.close();
    const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const holding = files.filter((file) =>
      readFileSync(join(file.parentPath, file.name)).includes("xylophone90210"),
    );
    expect(holding.map(({ name }) => name)).toEqual([]);
  });

  test("only a memory of the same agent can be forgotten", async () => {
    const { memories, log, say } = await memoriesOf();
    await new Memories(log, "b").remember("of b", user);
    await say("chat", "hello");
    await memories.remember("of a", user);
    for (const [id, code] of [
      ["memory:b#1", "ARGUMENT_INVALID"],
      ["chat#1", "ARGUMENT_INVALID"],
      ["memory:a#9", "ENTRY_NOT_FOUND"],
      ["nonsense", "ARGUMENT_INVALID"],
    ] as const)
      await expect(memories.forget(id)).rejects.toMatchObject({ code });
    await expect(new Memories(log, "nobody").forget("memory:nobody#1")).rejects.toMatchObject({
      code: "ENTRY_NOT_FOUND",
    });
    await memories.forget("memory:a#1");
    await expect(memories.forget("memory:a#1")).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    expect((await log.store.entries.get("chat", 1))?.kind).toBe("message");
  });
});

test("notes of agents are pinned only in their own project until a person accepts them", async () => {
  await using kernel = await testKernel();
  const memories = kernel.memories();
  await memories.remember("Rule of the user.", { by: "user", project: "/repo/a" });
  const note = await memories.remember("Note about a.", { by: "agent", project: "/repo/a" });
  await memories.remember("Note of nowhere.", { by: "agent" });
  const shown = async (project?: string | null) =>
    (await memories.pins(project === undefined ? {} : { project })).map(({ text }) => text);
  expect(await shown("/repo/a/src")).toEqual(["Rule of the user.", "Note about a."]);
  expect(await shown("/repo/b")).toEqual(["Rule of the user."]);
  expect(await shown(null)).toEqual(["Rule of the user.", "Note of nowhere."]);
  expect(await shown()).toHaveLength(3);
  await memories.review(note?.id ?? "", "accepted");
  expect(await shown("/repo/b")).toEqual(["Rule of the user.", "Note about a."]);
  for (let index = 0; index < 30; index++) await memories.remember(`Later note ${index}.`, { by: "agent" });
  expect((await shown(null)).filter((text) => text === "Rule of the user.")).toHaveLength(1);
  expect(await shown(null)).toHaveLength(12);
});
