import { expect, test } from "vitest";
import {
  readLegacyMemories,
  rememberLegacy,
  toLegacyPins,
} from "../../../src/recall/memories/legacy-pins.ts";
import { Memories } from "../../../src/recall/memories/memories.ts";
import { testMemory } from "../test-memory.ts";

test("writing to pinContent does not change the memories", async () => {
  const { log } = await testMemory();
  const memories = new Memories(log);
  await memories.remember("one", { by: "user" });
  await memories.remember("two", { by: "user" });
  const legacy = toLegacyPins(await memories.pins());
  legacy.pinContent += "\nthree";
  expect(legacy.pinContent).toBe("one\ntwo");
  expect(legacy.recentMemories).toEqual(["one", "two"]);
  expect(await memories.list()).toHaveLength(2);
});

test("data with missing or malformed pins is read as empty", () => {
  for (const data of [
    undefined,
    null,
    7,
    "text",
    {},
    { pinContent: "" },
    { pinContent: 4 },
    { recentMemories: {} },
  ])
    expect(readLegacyMemories(data)).toEqual([]);
});

test("a list of recent memories takes precedence over the joined text", () => {
  expect(readLegacyMemories({ recent_memories: ["a", " ", 3, "b"], pin_content: "old" })).toEqual(["a", "b"]);
  expect(readLegacyMemories({ recentMemories: [], pinContent: "a\nb" })).toEqual(["a\nb"]);
});

test("a very long text of memories is remembered completely, in pieces, and only once", async () => {
  const { log } = await testMemory();
  const memories = new Memories(log);
  const lines = Array.from({ length: 3_000 }, (_, index) => `第${index}条记忆`);
  const data = { pinContent: `${lines.join("\n")}\n${"字".repeat(9_000)}` };
  const added = await rememberLegacy(memories, data);
  expect(added.map(({ text }) => text).join("\n")).toContain(lines.join("\n"));
  expect(added.map(({ text }) => text.match(/字/g)?.length ?? 0).reduce((sum, one) => sum + one)).toBe(9_000);
  for (const { text, by } of added) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_240);
    expect(by).toBe("agent");
  }
  expect(await rememberLegacy(memories, data)).toEqual([]);
});
