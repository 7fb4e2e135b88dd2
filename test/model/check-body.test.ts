import { describe, expect, test } from "vitest";
import { checkMessageParts } from "../../src/model/entry.ts";
import type { MessageInput } from "../../src/model/message.ts";

describe("checking a message", () => {
  test.each([
    [null, "message"],
    ["hi", "message"],
    [{ role: "boss", text: "hi" }, "message.role"],
    [{ role: "user" }, "message.parts"],
    [{ role: "user", text: 5 }, "message.text"],
    [{ role: "user", text: "a", parts: [] }, "message.parts"],
    [{ role: "user", parts: [null] }, "message.parts[0]"],
    [{ role: "user", parts: [{ type: "text" }] }, "message.parts[0].text"],
    [{ role: "user", parts: [{ type: "video" }] }, "message.parts[0].type"],
    [{ role: "assistant", parts: [{ type: "tool-call", callId: "1", name: "x" }] }, "message.parts[0].input"],
    [{ role: "assistant", parts: [{ type: "tool-call", name: "x", input: {} }] }, "message.parts[0].callId"],
    [{ role: "tool", parts: [{ type: "tool-result", callId: "1" }] }, "message.parts[0].output"],
    [
      {
        role: "tool",
        parts: [
          {
            type: "tool-result",
            callId: "1",
            output: [{ type: "tool-call", callId: "2", name: "x", input: 1 }],
          },
        ],
      },
      "message.parts[0].output[0].type",
    ],
    [{ role: "user", parts: [{ type: "data" }] }, "message.parts[0].data"],
  ])("the message %j is refused, and %s is named", (input, option) => {
    expect(() => checkMessageParts(input as MessageInput)).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID", details: { option } }),
    );
  });

  test("a message may be plain text or parts of every kind", () => {
    expect(checkMessageParts({ role: "user", text: "hi" })).toEqual([{ type: "text", text: "hi" }]);
    const parts = [
      { type: "text", text: "" },
      { type: "reasoning", text: "hm", opaque: { signature: "x" } },
      { type: "tool-call", callId: "1", name: "read", input: null },
      { type: "tool-result", callId: "1", output: "fine" },
      { type: "raw", format: "x", value: [1] },
    ] as const;
    expect(checkMessageParts({ role: "assistant", parts })).toBe(parts);
  });
});
