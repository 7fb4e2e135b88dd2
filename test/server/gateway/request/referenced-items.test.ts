import { expect, test } from "vitest";
import { ReferencedItems } from "../../../../src/server/gateway/request/referenced-items.ts";

const item = (id: string, text: string) => ({
  id,
  type: "message",
  content: [{ type: "output_text", text }],
});

test("an item is found by its id, unchanged, and only for the person who received it", () => {
  const items = new ReferencedItems(() => ({ items: 10, itemBytes: 100_000 }));
  items.add("alice", [item("a", "élan ✓"), { type: "reasoning" }]);
  expect(items.find("alice", "a")).toEqual(item("a", "élan ✓"));
  expect(items.find("bob", "a")).toBeUndefined();
  expect(items.size).toBe(1);
});

test("the number and the bytes of items are bounded, and the oldest leave first", () => {
  const items = new ReferencedItems(() => ({ items: 100, itemBytes: 50_000 }));
  for (let n = 0; n < 1_000; n++) items.add("alice", [item(`small ${n}`, "x")]);
  expect(items.size).toBe(100);
  expect(items.find("alice", "small 899")).toBeUndefined();
  expect(items.find("alice", "small 900")).toBeDefined();
  for (let n = 0; n < 100; n++) items.add("alice", [item(`large ${n}`, "x".repeat(5_000))]);
  expect(items.sizeBytes).toBeLessThanOrEqual(50_000);
  expect(items.find("alice", "large 99")).toBeDefined();
  expect(items.find("alice", "large 90")).toBeUndefined();
});

test("an item that is named again takes only one place and becomes the newest item", () => {
  const items = new ReferencedItems(() => ({ items: 2, itemBytes: 100_000 }));
  for (const id of ["a", "b", "a", "c"]) items.add("alice", [item(id, id)]);
  expect(items.size).toBe(2);
  expect(items.find("alice", "a")).toBeDefined();
  expect(items.find("alice", "b")).toBeUndefined();
});
