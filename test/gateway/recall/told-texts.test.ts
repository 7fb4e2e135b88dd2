import { describe, expect, it } from "vitest";
import type { WireMessage } from "../../../src/gateway/body/wire-message.ts";
import { ToldTexts } from "../../../src/gateway/recall/told-texts.ts";

const said = (...keys: readonly string[]): readonly WireMessage[] =>
  keys.map((key, index) => ({
    key,
    role: key.startsWith("a") ? "assistant" : "user",
    index,
    from: index,
    to: index + 1,
    input: () => ({ role: "user", text: key }),
  }));

describe("what messages were told", () => {
  it("is found again by what they say, each time it is said apart", () => {
    const told = new ToldTexts();
    const first = said("u1", "a1", "u2");
    told.tell(first, first[2] as WireMessage, "two");
    const later = said("u1", "a1", "u2", "a2", "u2");
    expect([...told.of(later)]).toEqual([[2, "two"]]);
    expect(told.knows(later, later[2] as WireMessage)).toBe(true);
    expect(told.knows(later, later[4] as WireMessage)).toBe(false);
  });

  it("is noted for those that were told nothing, too", () => {
    const told = new ToldTexts();
    const all = said("u1");
    told.tell(all, all[0] as WireMessage, undefined);
    expect(told.knows(all, all[0] as WireMessage)).toBe(true);
    expect(told.of(all).size).toBe(0);
  });

  it("can be taken back, and is not looked for again", () => {
    const told = new ToldTexts();
    const all = said("u1", "a1", "u2");
    told.tell(all, all[0] as WireMessage, "one");
    told.tell(all, all[2] as WireMessage, "two");
    told.forget(all, [0]);
    expect([...told.of(all)]).toEqual([[2, "two"]]);
    expect(told.knows(all, all[0] as WireMessage)).toBe(true);
  });

  it("is bounded, and what is left out leaves at once, so that the cache is lost seldom", () => {
    const told = new ToldTexts();
    const all = said(...Array.from({ length: 200 }, (_, index) => `u${index}`));
    let losses = 0;
    for (const message of all) {
      const before = told.of(all).size;
      told.tell(all, message, "text");
      if (told.of(all).size < before) losses++;
      expect(told.of(all).size).toBeLessThanOrEqual(12);
      expect(told.of(all).get(message.index)).toBe("text");
    }
    expect(losses).toBeLessThan(35);
  });
});
