import { describe, expect, test } from "vitest";
import type { RequestMessage } from "../../../../src/server/gateway/request/request-messages.ts";
import { ContextTexts } from "../../../../src/server/gateway/thread/thread.ts";

const said = (...keys: readonly string[]): readonly RequestMessage[] =>
  keys.map((key, index) => ({
    key,
    role: key.startsWith("a") ? "assistant" : "user",
    index,
    from: index,
    to: index + 1,
    input: () => ({ role: "user", text: key }),
  }));

describe("what messages were told", () => {
  test("what messages were told is found again by what they say, each time it is said apart", () => {
    const told = new ContextTexts();
    const first = said("u1", "a1", "u2");
    told.set(first, first[2] as RequestMessage, "two");
    const later = said("u1", "a1", "u2", "a2", "u2");
    expect([...told.find(later)]).toEqual([[2, "two"]]);
    expect(told.has(later, later[2] as RequestMessage)).toBe(true);
    expect(told.has(later, later[4] as RequestMessage)).toBe(false);
  });

  test("what messages were told is noted for those that were told nothing, too", () => {
    const told = new ContextTexts();
    const all = said("u1");
    told.set(all, all[0] as RequestMessage, undefined);
    expect(told.has(all, all[0] as RequestMessage)).toBe(true);
    expect(told.find(all).size).toBe(0);
  });

  test("what messages were told can be taken back, and is not looked for again", () => {
    const told = new ContextTexts();
    const all = said("u1", "a1", "u2");
    told.set(all, all[0] as RequestMessage, "one");
    told.set(all, all[2] as RequestMessage, "two");
    told.forget(all, [0]);
    expect([...told.find(all)]).toEqual([[2, "two"]]);
    expect(told.has(all, all[0] as RequestMessage)).toBe(true);
  });

  test("what messages were told is bounded, and never leaves, so that the cache is not lost", () => {
    const told = new ContextTexts();
    const all = said(...Array.from({ length: 200 }, (_, index) => `u${index}`));
    for (const message of all) {
      told.set(all, message, "text");
      expect(told.has(all, message)).toBe(true);
      expect(told.find(all).size).toBe(Math.min(message.index + 1, 100));
    }
  });
});
