import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alternateRoles } from "../../src/kernel/faces/window.ts";
import type { Message, Part, Role } from "../../src/kernel/index.ts";

const said = (role: Role, text: string): Message => ({ role, parts: [{ type: "text", text }] });
const textsIn = ({ role, parts }: Message) => parts.map((part) => `${role} ${JSON.stringify(part)}`);

describe("alternating roles", () => {
  test("alternating roles merges neighbours of one role into the first", () => {
    expect(
      alternateRoles([said("user", "a"), said("user", "b"), said("assistant", "c"), said("assistant", "d")]),
    ).toEqual([
      { role: "user", parts: [...said("user", "a").parts, ...said("user", "b").parts] },
      { role: "assistant", parts: [...said("assistant", "c").parts, ...said("assistant", "d").parts] },
    ]);
  });

  test("alternating roles leaves messages with reasoning, calls, results and instructions apart", () => {
    const thought: Message = { role: "assistant", parts: [{ type: "reasoning", text: "t" }] };
    const call: Message = {
      role: "assistant",
      parts: [{ type: "tool-call", callId: "1", name: "n", input: {} }],
    };
    const result: Message = { role: "tool", parts: [{ type: "tool-result", callId: "1", output: [] }] };
    for (const pair of [
      [said("assistant", "a"), thought],
      [call, said("assistant", "a")],
      [result, result],
      [said("system", "a"), said("system", "b")],
    ])
      expect(alternateRoles(pair)).toEqual(pair);
  });

  test("alternating roles keeps every part in its order", () => {
    const part = fc.constantFrom<Part>(
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "reasoning", text: "c" },
    );
    const message = fc.record({
      role: fc.constantFrom<Role>("user", "assistant", "tool", "system"),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const merged = alternateRoles(messages);
        expect(merged.flatMap(textsIn)).toEqual(messages.flatMap(textsIn));
        expect(alternateRoles(merged)).toEqual(merged);
      }),
    );
  });
});
