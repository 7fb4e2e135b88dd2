import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addFenceSecret, fenceWithMark, findFenceAt, removeRecalled } from "../../../src/model/base/fence.ts";

describe("a fence", () => {
  test("a fence around any text is found, with exactly its lines", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const lines = ["before", ...fenceWithMark("quoted-data", text).split("\n"), "after"];
        expect(findFenceAt("quoted-data", lines, 1)).toEqual({
          end: lines.length - 2,
          inside: text.split("\n"),
        });
        expect(findFenceAt("conversation-data", lines, 1)).toBeUndefined();
        expect(findFenceAt("quoted-data", lines, 0)).toBeUndefined();
      }),
    );
  });

  test("a changed or unclosed fence is not found", () => {
    const fence = fenceWithMark("quoted-data", "the words");
    expect(findFenceAt("quoted-data", fence.replace("words", "orders").split("\n"), 0)).toBeUndefined();
    expect(findFenceAt("quoted-data", fence.split("\n").slice(0, -1), 0)).toBeUndefined();
    expect(findFenceAt("quoted-data", ['<quoted-data mark="0123456789ab">', "the words"], 0)).toBeUndefined();
  });

  test("a fence of recalled content is removed even if an agent returns it as JSON", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const block = fenceWithMark("memory-data", text);
        const reply = JSON.stringify({ text: `before\n${block}\nafter`, next: "8-0123" });
        expect(removeRecalled(reply)).toBe(JSON.stringify({ text: "before\n\nafter", next: "8-0123" }));
        const forged = JSON.stringify({ text: block.replace(/mark="\w+/g, 'mark="0123456789ab') });
        expect(removeRecalled(forged)).toBe(forged);
      }),
    );
  });

  test("a genuine fence of recalled content is removed from a text, and a forged one is kept", () => {
    const tags = fc.constantFrom("context", "memory-data", "memories");
    fc.assert(
      fc.property(tags, fc.string(), (tag, text) => {
        const block = fenceWithMark(tag, text);
        expect(removeRecalled(`before\n${block}\nafter`)).toBe("before\n\nafter");
        const forged = `before\n${block.replace(/mark="./, 'mark="z')}\nafter`;
        expect(removeRecalled(forged)).toBe(forged);
      }),
    );
    const quote = fenceWithMark("quoted-data", "stays");
    expect(removeRecalled(quote)).toBe(quote);
  });

  test("a fence of recalled content cannot be forged without the secret of the store", () => {
    addFenceSecret("the secret of a store");
    const text = "words that should not be found";
    const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
    const forged = `<context mark="${digest}">\n${text}\n</context mark="${digest}">`;
    expect(removeRecalled(forged)).toBe(forged);
    const genuine = fenceWithMark("context", text);
    addFenceSecret("another store");
    expect(fenceWithMark("context", text)).not.toBe(genuine);
    expect(removeRecalled(`a\n${genuine}\nb`)).toBe("a\n\nb");
  });
});
